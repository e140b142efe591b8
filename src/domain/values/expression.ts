import { ValidationError } from "../errors/errors.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { shown } from "../text/text.ts";

/**
 * The language of the checks in graphs: comparisons of what the state holds. It has no assignment, no arithmetic and no
 * calls but `length`, so evaluating a check ends, changes nothing and cannot fail; what is wrong with one is found when
 * its file is read.
 *
 *     review.verdict == "pass" and (length(findings) == 0 or attempts >= 3)
 */
export type Expression =
  | { readonly kind: "value"; readonly value: JsonValue }
  | { readonly kind: "key"; readonly path: readonly [string, ...(string | number)[]] }
  | { readonly kind: "length"; readonly of: Expression }
  | { readonly kind: "not"; readonly of: Expression }
  | { readonly kind: "and" | "or"; readonly parts: readonly Expression[] }
  | {
      readonly kind: "compare";
      readonly operator: Comparison;
      readonly left: Expression;
      readonly right: Expression;
    };

const COMPARISONS = ["==", "!=", "<=", ">=", "<", ">", "in"] as const;
type Comparison = (typeof COMPARISONS)[number];

const LENGTH_LIMIT = 2_000;
const DEPTH_LIMIT = 32;

/** Refuses text that is not an expression, with the place and what was expected there. */
export function parseExpression(text: string, path = "check"): Expression {
  const refuse = (message: string): never => {
    throw new ValidationError(`The check is not valid: ${message}.`, [{ path, message }]);
  };
  if (text.length > LENGTH_LIMIT) return refuse(`is longer than ${LENGTH_LIMIT} characters`);
  return new Parser(text, refuse).parse();
}

/** The value of the expression. A key that the state does not have is null. */
export function evaluate(expression: Expression, state: JsonObject): JsonValue {
  switch (expression.kind) {
    case "value":
      return expression.value;
    case "key":
      return at(state, expression.path);
    case "length":
      return lengthOf(evaluate(expression.of, state));
    case "not":
      return !holds(expression.of, state);
    case "and":
      return expression.parts.every((part) => holds(part, state));
    case "or":
      return expression.parts.some((part) => holds(part, state));
    case "compare":
      return compare(expression.operator, evaluate(expression.left, state), evaluate(expression.right, state));
  }
}

/** Whether a check is met: not by null, false, 0, nor by an empty text, list or object. */
export function holds(expression: Expression, state: JsonObject): boolean {
  const value = evaluate(expression, state);
  if (typeof value !== "object" || value === null) return Boolean(value);
  return isList(value) ? value.length > 0 : Object.keys(value).length > 0;
}

function at(state: JsonObject, path: readonly (string | number)[]): JsonValue {
  let value: JsonValue = state;
  for (const step of path) {
    if (typeof value !== "object" || value === null) return null;
    if (isList(value)) value = (typeof step === "number" ? value[step] : undefined) ?? null;
    // Only what the state itself holds: every object has a "constructor".
    else value = (typeof step === "string" && Object.hasOwn(value, step) ? value[step] : undefined) ?? null;
  }
  return value;
}

/**
 * Characters, items or keys. A missing value has none, so that a condition can ask about a list before its first item.
 */
function lengthOf(value: JsonValue): JsonValue {
  if (value === null) return 0;
  if (typeof value === "string") return Array.from(value).length;
  if (typeof value !== "object") return null;
  return isList(value) ? value.length : Object.keys(value).length;
}

function compare(operator: Comparison, left: JsonValue, right: JsonValue): boolean {
  if (operator === "==") return same(left, right);
  if (operator === "!=") return !same(left, right);
  return operator === "in" ? contains(right, left) : ordered(operator, left, right);
}

/** Numbers with numbers and texts with texts; everything else has no order, so no comparison of it holds. */
function ordered(operator: "<" | "<=" | ">" | ">=", left: JsonValue, right: JsonValue): boolean {
  const comparable =
    (typeof left === "number" && typeof right === "number") || (typeof left === "string" && typeof right === "string");
  if (!comparable) return false;
  if (operator === "<") return left < right;
  if (operator === "<=") return left <= right;
  return operator === ">" ? left > right : left >= right;
}

/** An item of a list, a part of a text, a key of an object. */
function contains(container: JsonValue, item: JsonValue): boolean {
  if (typeof container === "string") return typeof item === "string" && container.includes(item);
  if (typeof container !== "object" || container === null) return false;
  if (isList(container)) return container.some((one) => same(one, item));
  return typeof item === "string" && Object.hasOwn(container, item);
}

/** Equal as JSON: a text is never a number, and the order of keys does not matter. */
function same(left: JsonValue, right: JsonValue): boolean {
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return left === right;
  if (isList(left) || isList(right)) {
    if (!isList(left) || !isList(right) || left.length !== right.length) return false;
    return left.every((item, index) => same(item, right[index] ?? null));
  }
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && same(left[key] ?? null, right[key] ?? null));
}

/** `Array.isArray` does not tell a readonly array from an object. */
function isList(value: readonly JsonValue[] | JsonObject): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Words that are not keys. Authors who are used to Python write the constants with a capital. */
const CONSTANTS: ReadonlyMap<string, JsonValue> = new Map<string, JsonValue>([
  ["true", true],
  ["True", true],
  ["false", false],
  ["False", false],
  ["null", null],
  ["None", null],
]);
const SIGNS: ReadonlyMap<string, string> = new Map([
  ["&&", "and"],
  ["||", "or"],
  ["!", "not"],
]);
const WORDS = ["and", "or", "not", "in"];

const TOKEN =
  /(?<space>\s+)|(?<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])|(?<name>[A-Za-z_][\w-]*)|(?<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<sign>==|!=|<=|>=|&&|\|\||[<>!()[\].])/suy;

interface Token {
  readonly kind: "number" | "name" | "string" | "sign" | "end";
  readonly text: string;
  /** Counted from 1, as people do. */
  readonly position: number;
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #refuse: (message: string) => never;
  #next = 0;
  #depth = 0;

  constructor(text: string, refuse: (message: string) => never) {
    this.#refuse = refuse;
    this.#tokens = tokens(text, refuse);
  }

  parse(): Expression {
    const expression = this.#any();
    if (this.#token.kind !== "end") this.#unexpected("and, or, or a comparison");
    return expression;
  }

  get #token(): Token {
    return this.#tokens[this.#next] ?? { kind: "end", text: "", position: 0 };
  }

  #any(): Expression {
    this.#depth += 1;
    if (this.#depth > DEPTH_LIMIT) return this.#refuse(`is nested deeper than ${DEPTH_LIMIT} levels`);
    const parts = this.#chain("or", () => this.#chain("and", () => this.#negation()));
    this.#depth -= 1;
    return parts;
  }

  #chain(word: "and" | "or", part: () => Expression): Expression {
    const parts = [part()];
    while (this.#take(word)) parts.push(part());
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : { kind: word, parts };
  }

  #negation(): Expression {
    let count = 0;
    while (this.#take("not")) count += 1;
    const expression = this.#comparison();
    if (count === 0) return expression;
    // Twice is as good as any even number of times: a thousand signs must not become a thousand levels.
    const once: Expression = { kind: "not", of: expression };
    return count % 2 === 1 ? once : { kind: "not", of: once };
  }

  #comparison(): Expression {
    const left = this.#operand();
    const negated = this.#token.text === "not" && this.#tokens[this.#next + 1]?.text === "in" && this.#take("not");
    const operator = this.#operator();
    if (operator === undefined) return left;
    const comparison: Expression = { kind: "compare", operator, left, right: this.#operand() };
    if (this.#isComparison(this.#token)) this.#unexpected('"and", because a comparison has two sides');
    return negated ? { kind: "not", of: comparison } : comparison;
  }

  #operator(): Comparison | undefined {
    const token = this.#token;
    if (!this.#isComparison(token)) return undefined;
    this.#next += 1;
    return COMPARISONS.find((operator) => operator === token.text);
  }

  #isComparison({ kind, text }: Token): boolean {
    return kind !== "string" && COMPARISONS.some((operator) => operator === text);
  }

  #operand(): Expression {
    const token = this.#token;
    if (this.#take("(")) {
      const inner = this.#any();
      this.#expect(")");
      return inner;
    }
    if (token.kind === "number") return this.#number(token);
    if (token.kind === "string") {
      this.#next += 1;
      return { kind: "value", value: this.#unescaped(token) };
    }
    if (token.kind !== "name" || WORDS.includes(token.text)) return this.#unexpected("a key, a number or a text");
    this.#next += 1;
    const constant = CONSTANTS.get(token.text);
    if (constant !== undefined) return { kind: "value", value: constant };
    return this.#token.text === "(" && this.#token.kind === "sign" ? this.#call(token) : this.#key(token);
  }

  #call(name: Token): Expression {
    if (name.text !== "length") {
      return this.#refuse(`there is no function ${shown(name.text)}; the only one is length(…)`);
    }
    this.#expect("(");
    const of = this.#any();
    this.#expect(")");
    return { kind: "length", of };
  }

  #key(name: Token): Expression {
    const path: [string, ...(string | number)[]] = [name.text];
    for (;;) {
      if (this.#take(".")) {
        if (this.#token.kind !== "name") this.#unexpected("the name of a key");
        path.push(this.#token.text);
        this.#next += 1;
      } else if (this.#take("[")) {
        const { kind, text } = this.#token;
        if (kind !== "number" || !/^\d{1,9}$/.test(text)) this.#unexpected("the number of an item, from 0");
        path.push(Number(text));
        this.#next += 1;
        this.#expect("]");
      } else return { kind: "key", path };
    }
  }

  #number(token: Token): Expression {
    this.#next += 1;
    const value = Number(token.text);
    if (!Number.isFinite(value)) this.#refuse(`${token.text} is too large for a number`);
    // JSON has no minus zero.
    return { kind: "value", value: value + 0 };
  }

  #unescaped(token: Token): string {
    return token.text.slice(1, -1).replaceAll(/\\(.)/gsu, (whole, letter: string) => {
      const character = ESCAPES.get(letter);
      return character ?? this.#refuse(`${whole} in the text at character ${token.position} is unknown`);
    });
  }

  #take(text: string): boolean {
    const token = this.#token;
    if (token.kind === "string" || token.text !== text) return false;
    this.#next += 1;
    return true;
  }

  #expect(text: string): void {
    if (!this.#take(text)) this.#unexpected(`"${text}"`);
  }

  #unexpected(expected: string): never {
    const { kind, text, position } = this.#token;
    const found = kind === "end" ? "it ends" : `${shown(text)} stands at character ${position}`;
    return this.#refuse(`${found} where ${expected} is expected`);
  }
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["\\", "\\"],
  ['"', '"'],
  ["'", "'"],
]);

function tokens(text: string, refuse: (message: string) => never): Token[] {
  const found: Token[] = [];
  let position = 0;
  while (position < text.length) {
    TOKEN.lastIndex = position;
    const groups = TOKEN.exec(text)?.groups;
    const [kind, word] = Object.entries(groups ?? {}).find(([, one]) => one !== undefined) ?? [];
    if (kind === undefined || word === undefined) {
      return refuse(`cannot be read from character ${position + 1} on: ${shown(text.slice(position), 20)}`);
    }
    if (kind !== "space") {
      const read = kind === "sign" ? (SIGNS.get(word) ?? word) : word;
      found.push({ kind: kind as Token["kind"], text: read, position: position + 1 });
    }
    position += word.length;
  }
  return [...found, { kind: "end", text: "", position: text.length + 1 }];
}
