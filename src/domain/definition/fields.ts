import { isDeepStrictEqual } from "node:util";
import type { ValidationIssue } from "../errors/errors.ts";
import { parseJson, type JsonLimits, type JsonObject, type JsonValue } from "../values/json.ts";
import { suggested } from "./schema.ts";
import { lineProblem, shown, textProblem } from "../text/text.ts";

/** A value of a definition and the place where its author wrote it. */
export interface Found {
  readonly value: unknown;
  readonly path: string;
}

/** Older spellings of keys, by the one we use. */
export type Spellings = Readonly<Record<string, readonly string[]>>;

interface Place {
  readonly values: ReadonlyMap<string, unknown>;
  readonly path: string;
  /** The keys that the reader asked for here. */
  readonly asked: Set<string>;
}

/**
 * Reads the keys of one object of a definition, whichever spelling each has, and collects every problem with the place
 * where it stands in the file. A key that was never asked for is unknown.
 */
export class Fields {
  readonly path: string;
  readonly issues: ValidationIssue[];
  readonly #spellings: Spellings;
  readonly #places: readonly Place[];

  constructor(found: Found, issues: ValidationIssue[], form: { spellings?: Spellings; block?: string } = {}) {
    this.path = found.path;
    this.issues = issues;
    this.#spellings = form.spellings ?? {};
    const own = entries(found.value);
    if (own === undefined) issues.push({ path: found.path, message: LINES });
    // An older form keeps what is special to a kind in a block of its own; what stands beside the block comes first.
    const block = form.block === undefined ? undefined : own?.get(form.block);
    const inner = entries(block);
    if (block !== undefined && inner === undefined) this.#say(form.block ?? "", LINES);
    this.#places = [
      ...(own === undefined
        ? []
        : [{ values: own, path: found.path, asked: new Set(form.block === undefined ? [] : [form.block]) }]),
      ...(inner === undefined ? [] : [{ values: inner, path: this.at(form.block ?? ""), asked: new Set<string>() }]),
    ];
  }

  /** The place of a key in the file. */
  at(key: string): string {
    return joined(this.path, key);
  }

  /** The value of a key. Two spellings that disagree are refused, except where the first is to win. */
  find(key: string, rule: { readonly firstWins?: boolean; readonly inBlock?: boolean } = {}): Found | undefined {
    const found = this.#all(key, rule.inBlock === true ? this.#places.slice(1) : this.#places);
    const [first, ...others] = found;
    if (first === undefined) return undefined;
    const other = others.find(({ value }) => !isDeepStrictEqual(value, first.value));
    if (other !== undefined && rule.firstWins !== true) {
      this.issues.push({ path: other.path, message: `says something else than ${first.path}; keep one of them` });
    }
    return first;
  }

  #all(key: string, places: readonly Place[] = this.#places): Found[] {
    const words = [key, ...(this.#spellings[key] ?? [])];
    return places.flatMap(({ values, path, asked }) => {
      for (const word of words) asked.add(word);
      return words.flatMap((word) => (values.has(word) ? [{ value: values.get(word), path: joined(path, word) }] : []));
    });
  }

  has(key: string): boolean {
    return this.#all(key).length > 0;
  }

  require(key: string): Found | undefined {
    const found = this.find(key);
    if (found === undefined) this.#say(key, "is required");
    return found;
  }

  text(found: Found | undefined, limit?: number, problemOf = textProblem): string | undefined {
    if (found === undefined) return undefined;
    const { value, path } = found;
    const problem = typeof value === "string" ? problemOf(value, limit) : "must be a text";
    if (problem === undefined) return value as string;
    this.issues.push({ path, message: problem });
    return undefined;
  }

  /** A text that says something. */
  filled(found: Found | undefined, limit?: number, problemOf = textProblem): string | undefined {
    const text = this.text(found, limit, problemOf);
    if (text === undefined || text.trim() !== "") return text;
    this.issues.push({ path: found?.path ?? "", message: "must not be empty" });
    return undefined;
  }

  /** A name, or a description of one line. */
  line(found: Found | undefined, limit?: number): string | undefined {
    return this.filled(found, limit, lineProblem);
  }

  number(found: Found | undefined, rule: { min: number; max: number; whole?: boolean }): number | undefined {
    if (found === undefined) return undefined;
    const { value, path } = found;
    const { min, max, whole = false } = rule;
    if (typeof value === "number" && value >= min && value <= max && (!whole || Number.isInteger(value)))
      return value + 0;
    const message = `must be a ${whole ? "whole " : ""}number from ${min} to ${max}, not ${shown(value)}`;
    this.issues.push({ path, message });
    return undefined;
  }

  boolean(key: string): boolean | undefined {
    const found = this.find(key);
    if (found === undefined || typeof found.value === "boolean") return found?.value as boolean | undefined;
    this.issues.push({ path: found.path, message: `must be true or false, not ${shown(found.value)}` });
    return undefined;
  }

  /** One of these words; older words are turned into theirs. */
  word<W extends string>(
    found: Found | undefined,
    words: readonly W[],
    older: Readonly<Record<string, W>> = {},
  ): W | undefined {
    if (found === undefined) return undefined;
    const text = typeof found.value === "string" ? found.value : "";
    const word = words.find((one) => one === text) ?? (Object.hasOwn(older, text) ? older[text] : undefined);
    if (word !== undefined) return word;
    const message = `is ${shown(found.value)}; it must be one of ${words.join(", ")}`;
    this.issues.push({ path: found.path, message, ...suggested(text, [...words, ...Object.keys(older)]) });
    return undefined;
  }

  list(found: Found | undefined, limit: number): readonly Found[] {
    if (found === undefined) return [];
    const { value, path } = found;
    if (!Array.isArray(value) || value.length > limit) {
      this.issues.push({ path, message: `must be a list${Array.isArray(value) ? ` of at most ${limit}` : ""}` });
      return [];
    }
    return Array.from(value, (one: unknown, index) => ({ value: one, path: joined(path, String(index)) }));
  }

  /** The entries of a map whose keys are the author's own. */
  map(found: Found | undefined, limit: number): readonly (readonly [string, Found])[] {
    if (found === undefined) return [];
    const { value, path } = found;
    const given = entries(value);
    if (given === undefined || given.size > limit) {
      const message = given === undefined ? LINES : `must not have more than ${limit} keys`;
      this.issues.push({ path, message });
      return [];
    }
    return [...given].map(([key, one]) => [key, { value: one, path: joined(path, key) }] as const);
  }

  json(found: Found | undefined, limits: JsonLimits): JsonValue | undefined {
    return found === undefined ? undefined : parseJson(found.value, found.path, limits, this.issues);
  }

  object(found: Found | undefined, limits: JsonLimits): JsonObject | undefined {
    if (found === undefined) return undefined;
    if (entries(found.value) !== undefined) return this.json(found, limits) as JsonObject | undefined;
    this.issues.push({ path: found.path, message: LINES });
    return undefined;
  }

  /** Refuses a key with its reason, if it is there. */
  refuse(key: string, message: string): void {
    for (const { path } of this.#all(key)) this.issues.push({ path, message });
  }

  /** A key that was not asked for is a mistake. */
  end(): void {
    for (const { values, path, asked } of this.#places) {
      for (const key of values.keys()) {
        if (asked.has(key)) continue;
        this.issues.push({ path: joined(path, key), message: "unknown key", ...suggested(key, asked) });
      }
    }
  }

  #say(key: string, message: string): void {
    this.issues.push({ path: this.at(key), message });
  }
}

const LINES = "must be a set of key: value lines";

function entries(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  // A program left an undefined value out; a file cannot contain one.
  return new Map(Object.entries(value).filter(([, one]) => one !== undefined));
}

function joined(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}
