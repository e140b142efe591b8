import type { JsonValue } from "./json.ts";

/**
 * Secrets masked in any text, before it reaches a model, a log, an event, the audit log or an export. Three ways to know one: it is the
 * value of a configured key; it has the form of a known kind of key; or it is assigned to something called a key, token or password and
 * looks random. Each expression begins with something fixed and has no repetition inside another, so the time grows with the text and
 * not faster (measured: 10 MB of hostile text in well under a second).
 */
export interface Masked {
  readonly text: string;
  /** How many were masked. */
  readonly masked: number;
}

interface Form {
  readonly name: string;
  /** The secret itself is group 2 if there is one, else all of it; what group 1 holds stays. */
  readonly pattern: string;
  /** Not a secret although it has the form. */
  readonly unless?: (secret: string, before: string) => boolean;
}

const START = "(?<![A-Za-z0-9_])";

/** Stands at the beginning of the one kind of secret that takes several lines: a piece of it could not be told by itself. */
export const SEVERAL_LINES = "PRIVATE KEY";

/** Known by how they begin. */
const KEY_FORMS: readonly Form[] = [
  {
    name: "private key",
    // Also with what quotations, comments, diffs and `git blame` put in front of each line.
    pattern: `-----BEGIN [A-Z0-9 ]{0,40}${SEVERAL_LINES}[A-Z ]{0,10}-----(?:[A-Za-z0-9+/=,:. \\t\\r\\n\\\\"'()^|>#*]|-(?!----)){64,}(?:-----END [A-Z0-9 ]{0,60}-----)?`,
  },
  { name: "API key", pattern: `${START}sk-[A-Za-z0-9_-]{20,300}`, unless: isWords },
  {
    name: "API key",
    pattern: `${START}(?:gsk_|hf_|r8_|pplx-|xai-|fw_|csk-|nvapi-|tgp_v1_)[A-Za-z0-9_-]{24,200}`,
    unless: isWords,
  },
  { name: "Google key", pattern: `${START}AIza[A-Za-z0-9_-]{35}` },
  { name: "AWS key", pattern: `${START}(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])` },
  { name: "GitHub token", pattern: `${START}(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})` },
  { name: "GitLab token", pattern: `${START}gl(?:pat|dt|rt|soat|ptt|oas)-[A-Za-z0-9_.-]{20,300}` },
  { name: "Slack token", pattern: `${START}xox[abeoprs]-[A-Za-z0-9-]{10,250}` },
  { name: "Slack address", pattern: "(hooks\\.slack\\.com/services/)([A-Za-z0-9/]{20,100})" },
  { name: "Stripe key", pattern: `${START}[sr]k_(?:live|test)_[A-Za-z0-9]{16,250}` },
  { name: "npm token", pattern: `${START}npm_[A-Za-z0-9]{36}` },
  { name: "PyPI token", pattern: `${START}pypi-[A-Za-z0-9_-]{50,300}` },
  { name: "Docker token", pattern: `${START}dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,100}` },
  {
    name: "cloud token",
    pattern: `${START}(?:do[opr]_v1_[a-f0-9]{64}|hv[sb]\\.[A-Za-z0-9_-]{24,300}|dapi[a-f0-9]{32})`,
  },
  { name: "SendGrid key", pattern: `${START}SG\\.[A-Za-z0-9_-]{16,64}\\.[A-Za-z0-9_-]{16,64}` },
  { name: "age key", pattern: "AGE-SECRET-KEY-1[0-9A-Z]{50,70}" },
  {
    name: "token",
    pattern: `(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,4000}\\.[A-Za-z0-9_-]{10,8000}\\.[A-Za-z0-9_-]{10,2000}`,
  },
];

/** Known by what stands before them. */
const CONTEXT_FORMS: readonly Form[] = [
  { name: "password", pattern: "(://[^\\s/:@\"'<>`]{0,100}:)([^\\s/@\"'<>`]{1,200})(?=@)", unless: isPlaceholder },
  {
    name: "token",
    pattern: "((?:bearer|basic)[ \\t]{1,4})([A-Za-z0-9._~+/=-]{16,4000})",
    unless: (value) => !/\d/.test(value) && isWords(value),
  },
  {
    name: "secret",
    pattern:
      "((?:key|token|secret|passw(?:or)?d|passwd|pwd|passphrase|credentials?|auth)[A-Za-z0-9_-]{0,30}[\"'`]{0,2}[ \\t]{0,4}(?:=>|:=|[:=])[ \\t]{0,4}[\"'`]{0,2})([A-Za-z0-9+/=_.~!@#$%^&*-]{12,500})",
    unless: (value, before) => isPlaceholder(value) || !looksRandom(value) || isName(value, before),
  },
];

const KEYS = compiled(KEY_FORMS, "g");
const CONTEXTS = compiled(CONTEXT_FORMS, "gi");
const SHORTEST_KNOWN = 8;

/** `known` are exact values that must not show, whatever they look like. */
export function maskSecrets(text: string, known: readonly string[] = []): Masked {
  let masked = 0;
  let result = text;
  for (const value of known) {
    if (value.length < SHORTEST_KNOWN || !result.includes(value)) continue;
    const parts = result.split(value);
    masked += parts.length - 1;
    result = parts.join(mask("configured key"));
  }
  for (const { expression, forms } of [KEYS, CONTEXTS]) {
    result = result.replace(expression, (whole: string, ...groups: unknown[]) => {
      const found = foundForm(forms, groups);
      if (found === undefined) return whole;
      masked += 1;
      // The lines behind it keep their numbers.
      return found.before + mask(found.name) + "\n".repeat(whole.split("\n").length - 1);
    });
  }
  return { text: result, masked };
}

/** What kind of key a text holds, known by its form or its value: where one must not be at all, rather than be masked. */
export function heldKey(text: string, known: readonly string[] = []): string | undefined {
  if (known.some((value) => value.length >= SHORTEST_KNOWN && text.includes(value))) return "configured key";
  for (const match of text.matchAll(KEYS.expression)) {
    const found = foundForm(KEYS.forms, match.slice(1));
    if (found !== undefined) return found.name;
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

/** One of the words of the name says so: `KEYBOARD_LAYOUT` does not. */
const SECRET_NAME = /(?:^|_)(?:API)?(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|PAT)S?(?:_|$)/i;

/** The values of variables that are named like secrets: to be masked wherever they turn up. The longest first, as one may hold another. */
export function secretValues(environment: Readonly<Record<string, string | undefined>>): string[] {
  const values = Object.entries(environment).flatMap(([name, value = ""]) =>
    SECRET_NAME.test(name) && value.length >= SHORTEST_KNOWN && !/^[/~.]|\s|^\d+$/.test(value) ? [value] : [],
  );
  return [...new Set(values)].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
}

/** Whether something in this text was masked: who writes it to a file would destroy what it stood for. */
export function holdsMask(text: string): boolean {
  return masksIn(text).length > 0;
}

/** What stands for secrets in the text, each once. */
export function masksIn(text: string): string[] {
  return [...new Set(text.match(/\[masked: [A-Za-z ]{3,30}\]/g))];
}

function mask(name: string): string {
  return `[masked: ${name}]`;
}

/** One expression for all forms, so that the text is walked once; which one it was is told by the group that matched. */
function compiled(forms: readonly Form[], flags: string): { expression: RegExp; forms: readonly Form[] } {
  const alternatives = forms.map(({ pattern }) => {
    const grouped = pattern.startsWith("(") && !pattern.startsWith("(?");
    return grouped ? pattern : `()(${pattern})`;
  });
  return { expression: new RegExp(alternatives.join("|"), flags), forms };
}

function foundForm(forms: readonly Form[], groups: readonly unknown[]): { name: string; before: string } | undefined {
  for (const [index, { name, unless }] of forms.entries()) {
    const before = groups[index * 2];
    const secret = groups[index * 2 + 1];
    if (typeof before !== "string" || typeof secret !== "string") continue;
    return unless?.(secret, before) === true ? undefined : { name, before };
  }
  return undefined;
}

/** `${PASSWORD}`, `<password>`, `process.env.KEY`, `***`: something stands for the secret, or it was masked already. */
function isPlaceholder(value: string): boolean {
  return /^(?:\$|\{|<|%|\*|x{4}|\.{3})|\*{4}|^(?:process\.|env\.|os\.|self\.|this\.|config\.|settings\.)|^\[masked/i.test(
    value,
  );
}

/** "sk-fading-circle-container": words and nothing that looks drawn by lot. */
function isWords(value: string): boolean {
  return !/\d/.test(value) && !/[a-z][A-Z]|[A-Z]{2}[a-z]/.test(value);
}

/**
 * `senderCurve25519Key`, "org.matrix.msc3231.login.registration_token", `P256.getPublicKey`: names in code have digits too, but few, between
 * words that can be spoken. A password may be made of words, so under that name only a member of something counts. An address of a
 * contract is none either.
 */
function isName(value: string, before: string): boolean {
  if (/^0x[0-9a-f]{40}$/i.test(value)) return true;
  if (/pass|pwd/i.test(before) && !/^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$/.test(value)) return false;
  if (!/[a-z_]/.test(value)) return false;
  const words = value.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? [];
  const letters = words.join("").length;
  const vowels = value.match(/[aeiou]/gi)?.length ?? 0;
  const changes = value.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0;
  if (letters < words.length * 3 || vowels < letters * 0.28 || changes > value.length * 0.13) return false;
  return words.every((word) => word.length < 4 || /[aeiouy]/i.test(word));
}

/** Hexadecimal, or at least 3.2 bits for each character, with letters and digits; a path, a call or a version is not random. */
function looksRandom(value: string): boolean {
  if (!/[A-Za-z]/.test(value) || !/\d/.test(value)) return false;
  if (/^(?:[a-z]+[._-])+[a-z]*\d{0,4}$/i.test(value)) return false;
  // PWD, the working directory, is called like a password.
  if (/^\/(?:Users|etc|home|mnt|opt|private|root|srv|tmp|usr|var)\//.test(value)) return false;
  if (/^[0-9a-f]{16,}$/i.test(value)) return true;
  const sample = value.slice(0, 200);
  const counts = new Map<string, number>();
  for (const character of sample) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / sample.length) * Math.log2(count / sample.length);
  return bits >= 3.2;
}
