import type { JsonValue } from "../values/json.ts";
import { SECRET_KINDS, type SecretKind } from "./secret-kinds.ts";
import { looksRandom } from "./secret-likeness.ts";
import { SECRET_LINES, SECRET_PLACES, SECRET_SHAPES, type SecretPlace } from "./secret-places.ts";
import type { Environment } from "../values/environment.ts";

/**
 * Secrets masked in any text, before it reaches a model, a log, an event, the audit log or an export. Four ways to know
 * one: it is the value of a configured key; it has the form of a known kind of key; it stands where a password or key
 * stands; or it is assigned to something called a key, token or password and looks random. No expression has an
 * unlimited repetition inside another, so the time grows with the text and not faster.
 */
export interface Masked {
  readonly text: string;
  /** How many were masked. */
  readonly masked: number;
}

/** The rules by which secrets are known; tests leave some out. */
export interface SecretRules {
  readonly kinds: readonly SecretKind[];
  readonly shapes: readonly SecretPlace[];
  readonly places: readonly SecretPlace[];
  readonly lines: readonly SecretPlace[];
}

export const SECRET_RULES: SecretRules = {
  kinds: SECRET_KINDS,
  shapes: SECRET_SHAPES,
  places: SECRET_PLACES,
  lines: SECRET_LINES,
};

/** One walk over a text: an expression for several rules, and which of them it was. */
interface Walk {
  /** Without this text in it a text need not be walked. */
  readonly needs?: string | undefined;
  readonly expression: RegExp;
  readonly found: (groups: readonly unknown[], line: () => string) => Found | undefined;
}

interface Found {
  readonly name: string;
  readonly before: string;
  readonly secret: string;
}

/**
 * Known by their form: where a key must not be at all, these are looked for. The others are judged by what stands
 * around them.
 */
interface Walks {
  readonly forms: readonly Walk[];
  readonly places: readonly Walk[];
}

const WALKS = walksOf(SECRET_RULES);
const SHORTEST_KNOWN = 8;

/** `known` are exact values that must not show, in any form. */
export function maskSecrets(text: string, known: readonly string[] = []): Masked {
  return maskedBy(WALKS, text, known);
}

export function maskedBy({ forms, places }: Walks, text: string, known: readonly string[]): Masked {
  let masked = 0;
  let result = text;
  for (const value of known) {
    if (value.length < SHORTEST_KNOWN || !result.includes(value)) continue;
    const parts = result.split(value);
    masked += parts.length - 1;
    result = parts.join(mask("configured key"));
  }
  for (const { needs = "", expression, found } of [...forms, ...places]) {
    if (!result.includes(needs)) continue;
    result = result.replace(expression, (whole: string, ...rest: unknown[]) => {
      const one = found(rest, () => lineBefore(rest));
      if (one === undefined) return whole;
      masked += 1;
      // The lines behind it keep their numbers.
      return one.before + mask(one.name) + "\n".repeat(one.secret.split("\n").length - 1);
    });
  }
  return { text: result, masked };
}

/**
 * The kind of key that a text holds, found by its form or its value. For places where a key must be refused rather than
 * masked.
 */
export function heldKey(text: string, known: readonly string[] = []): string | undefined {
  if (known.some((value) => value.length >= SHORTEST_KNOWN && text.includes(value))) return "configured key";
  for (const { expression, found } of WALKS.forms) {
    for (const match of text.matchAll(expression)) {
      const one = found(match.slice(1), () => "");
      if (one !== undefined) return one.name;
    }
  }
  return undefined;
}

/** Every string of a value, keys included. */
export function maskJson(value: JsonValue, known: readonly string[] = []): { value: JsonValue; masked: number } {
  let masked = 0;
  const text = (one: string): string => {
    const found = maskSecrets(one, known);
    masked += found.masked;
    return found.text;
  };
  const walk = (one: JsonValue): JsonValue => {
    if (typeof one === "string") return text(one);
    if (Array.isArray(one)) return one.map(walk);
    if (typeof one !== "object" || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([key, item]) => [text(key), named(key, item)]));
  };
  // `"api_key": "…"` is an assignment also when it is no longer text.
  const named = (key: string, item: JsonValue): JsonValue => {
    if (typeof item !== "string") return walk(item);
    const prefix = `${key}=`;
    const whole = maskSecrets(`${prefix}${item}`, known);
    if (!whole.text.startsWith(prefix)) return text(item);
    masked += whole.masked;
    return whole.text.slice(prefix.length);
  };
  return { value: walk(value), masked };
}

/** Words of which a name may be made up without a gap, as in `PGPASSWORD`. */
const SECRET_NAME =
  /PASSWORD|PASSWD|PASSPHRASE|PASSCODE|PWD|SECRET|TOKEN|CREDENTIAL|DSN|(?:PASS|KEYS?|AUTH)(?=[_\d]|$)|(?:^|_)PATS?(?=_|$)/i;
/** `KEYCLOAK`, `AUTHOR`, `PASSENGER`: the name has the letters of one, so the value decides. */
const NEAR_SECRET_NAME = /PASS|KEY|AUTH/i;

/**
 * The values of variables that are named like secrets, and the passwords in the addresses of others: to be masked in
 * every output. The longest first, as one may hold another.
 */
export function secretValues(environment: Environment): string[] {
  const values = Object.entries(environment).flatMap(([name, value = ""]) => [
    ...(isSecretVariable(name, value) ? [value] : []),
    ...passwordsOf(value),
  ]);
  const long = values.filter((value) => value.length >= SHORTEST_KNOWN);
  return [...new Set(long)].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
}

function isSecretVariable(name: string, value: string): boolean {
  // A path, a number, a sentence and an address without a password say where the secret is, or nothing.
  if (/^[/~.]|\s|^\d+$/.test(value)) return false;
  if (/^[a-z][a-z0-9+.-]*:\/\/[^@]*$/i.test(value) && !/DSN|WEBHOOK/i.test(name)) return false;
  return SECRET_NAME.test(name) || (NEAR_SECRET_NAME.test(name) && looksRandom(value));
}

/** The password of an address, as it is written there and as it is meant. */
function passwordsOf(value: string): string[] {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/]*@/i.test(value) || !URL.canParse(value)) return [];
  const { password } = new URL(value);
  if (password === "") return [];
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    // Not encoded, so it is meant as it is.
    return [password];
  }
}

/** Whether something in this text was masked: who writes it to a file would destroy what it stood for. */
export function holdsMask(text: string): boolean {
  return masksIn(text).length > 0;
}

/** The placeholders for secrets in the text, each once. */
export function masksIn(text: string): string[] {
  return [...new Set(text.match(/\[masked: [A-Za-z ]{3,30}\]/g))];
}

function mask(name: string): string {
  return `[masked: ${name}]`;
}

/** The searches of these rules; each rule is proved by a search without it. */
export function walksOf({ kinds, shapes, places, lines }: SecretRules): Walks {
  return {
    forms: [
      ...(kinds.length === 0 ? [] : [walkKinds(kinds)]),
      ...shapes.flatMap((shape) => walkPlaces([shape], "g", shape.needs)),
    ],
    places: [...walkPlaces(places, "gi"), ...walkPlaces(lines, "gm")],
  };
}

/**
 * All kinds in one expression without groups: the engine sorts the beginnings into a tree, so that a hundred kinds cost
 * hardly more than ten (with a group for each: four times as long). Which kind it was is found out afterwards, for the
 * few that matched.
 */
function walkKinds(kinds: readonly SecretKind[]): Walk {
  const patterns = kinds.map(({ begins, body }) => begins.map((begin) => `${escaped(begin)}${body}`).join("|"));
  const single = patterns.map((pattern) => new RegExp(`^(?:${pattern})$`));
  return {
    expression: new RegExp(`\\b(${patterns.join("|")})`, "g"),
    found: ([secret]) => {
      if (typeof secret !== "string") return undefined;
      const kind = kinds[single.findIndex((one) => one.test(secret))];
      return kind === undefined || kind.unless?.(secret) === true ? undefined : { name: kind.name, before: "", secret };
    },
  };
}

function escaped(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_-]/g, (character) => `\\${character}`);
}

/**
 * One expression for all places, so that the text is walked once; which one it was is told by the group that matched.
 */
function walkPlaces(rules: readonly SecretPlace[], flags: string, needs?: string): Walk[] {
  if (rules.length === 0) return [];
  return [
    {
      needs,
      expression: new RegExp(rules.map(({ pattern }) => pattern).join("|"), flags),
      found: (groups, line) => {
        for (const [index, { name, unless }] of rules.entries()) {
          const before = groups[index * 2];
          const secret = groups[index * 2 + 1];
          if (typeof before !== "string" || typeof secret !== "string") continue;
          return unless?.(secret, before, line()) === true ? undefined : { name, before, secret };
        }
        return undefined;
      },
    },
  ];
}

/** The text before a match in its line, as far as it matters; `rest` ends with where it is and the whole text. */
function lineBefore(rest: readonly unknown[]): string {
  const [offset, text] = rest.slice(-2);
  if (typeof offset !== "number" || typeof text !== "string") return "";
  const near = text.slice(Math.max(0, offset - 300), offset);
  return near.slice(near.lastIndexOf("\n") + 1);
}
