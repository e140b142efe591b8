/**
 * Shows a file or one definition of it in more or less detail. Signatures are shown as they are written, with their own
 * indentation, one below the other, and a `…` where a body was left out; nothing is invented, so that every shown line
 * can be found in the file.
 *
 * A level never takes more characters than a deeper one: where it would (a file of one-line constants), the deeper one
 * is shown instead, which says more in less space.
 */
import { DETAIL_LEVELS, type DetailLevel } from "../../domain/context/detail-level.ts";
import type { Definition, FileFacts, Span } from "../model/facts.ts";
import { lineAt, lineStartsOf } from "../languages/lines.ts";

/** The facts that are needed to show a file. */
export type ShownFacts = Pick<FileFacts, "language" | "definitions">;

export interface Rendering {
  readonly text: string;
  /** The lines of the file that it stands for, counted from 1, both included. */
  readonly startLine: number;
  readonly endLine: number;
}

const OMITTED = "…";
/** How many lines of a file without definitions are shown instead of signatures, and how much of each line. */
const FIRST_LINES = { listing: 0, signatures: 10, signatures_with_docs: 40 } as const;
const LONGEST_FIRST_LINE = 200;

export function renderFile(facts: ShownFacts, text: string, level: DetailLevel): Rendering {
  const lines = new TextLines(text);
  const shown = shortest(level, text, (at) => outlineOfFile(facts, lines, at));
  return { text: shown, startLine: 1, endLine: lines.count };
}

/**
 * With everything that is defined inside it. Throws a RangeError when there is no such definition: facts and ordinal
 * belong together.
 */
export function renderDefinition(facts: ShownFacts, ordinal: number, text: string, level: DetailLevel): Rendering {
  const definition = facts.definitions[ordinal];
  if (definition === undefined) throw new RangeError(`there is no definition ${ordinal}`);
  const { startLine, endLine } = definition;
  const lines = new TextLines(text);
  const full = text.slice(lines.start(startLine), lines.end(endLine));
  const shown = shortest(level, full, (at) => outlineOfDefinition(facts, ordinal, lines, at));
  return { text: shown, startLine, endLine };
}

type OutlineLevel = Exclude<DetailLevel, "full">;

/** The shortest of a level and the deeper ones. */
function shortest(level: DetailLevel, full: string, outline: (level: OutlineLevel) => string): string {
  let best = full;
  for (const at of DETAIL_LEVELS.slice(DETAIL_LEVELS.indexOf(level)).toReversed()) {
    if (at === "full") continue;
    const candidate = outline(at);
    if (candidate.length < best.length) best = candidate;
  }
  return best;
}

function outlineOfFile(facts: ShownFacts, lines: TextLines, level: OutlineLevel): string {
  if (facts.definitions.length === 0) return firstLines(lines, FIRST_LINES[level]);
  const all = facts.definitions.map((_, ordinal) => ordinal);
  const shown = facts.language === "markdown" && level === "listing" ? topHeadings(facts) : all;
  const entries = shown.flatMap((ordinal) => entryOf(facts, ordinal, lines, level, 0));
  const header = level === "signatures_with_docs" ? headerOf(facts, lines) : "";
  return [...(header === "" ? [] : [header]), ...entries].join("\n");
}

function outlineOfDefinition(facts: ShownFacts, ordinal: number, lines: TextLines, level: OutlineLevel): string {
  // The definitions inside a definition follow it directly.
  const inside = [ordinal];
  for (let next = ordinal + 1; next < facts.definitions.length && isWithin(facts, next, ordinal); next++)
    inside.push(next);
  const depth = enclosing(facts, ordinal).length;
  return inside.flatMap((other) => entryOf(facts, other, lines, level, depth)).join("\n");
}

function entryOf(
  facts: ShownFacts,
  ordinal: number,
  lines: TextLines,
  level: OutlineLevel,
  depthAbove: number,
): string[] {
  const definition = facts.definitions[ordinal];
  if (definition === undefined) return [];
  const depth = enclosing(facts, ordinal).length - depthAbove;
  if (level === "listing" && facts.language !== "markdown") {
    return [`${"  ".repeat(depth)}${definition.kind} ${qualifiedName(facts, definition)}`];
  }
  if (isInSignature(facts, definition)) return [];
  const signature = lines.shown(definition.signature, depth) + omissionOf(facts, ordinal, lines);
  if (level !== "signatures_with_docs" || definition.doc === undefined) return [signature];
  const doc = lines.shown(definition.doc, depth + 1);
  // A docstring stands below what it describes, a comment above.
  return definition.doc.start > definition.signature.start ? [signature, doc] : [doc, signature];
}

/** Whether the definition around it shows it already: the components of a record, the members of a type on one line. */
function isInSignature(facts: ShownFacts, definition: Definition): boolean {
  const outer = definition.container === undefined ? undefined : facts.definitions[definition.container];
  if (outer === undefined) return false;
  return outer.signature.start <= definition.signature.start && definition.signature.end <= outer.signature.end;
}

/** A method that is written outside its type is listed with the type's name. */
function qualifiedName(facts: ShownFacts, definition: Definition): string {
  const owner = definition.container === undefined ? undefined : facts.definitions[definition.container];
  return owner === undefined || encloses(owner, definition) ? definition.name : `${owner.name}.${definition.name}`;
}

/** The definitions around one, the nearest first. A container that does not enclose it is only its owner. */
function enclosing(facts: ShownFacts, ordinal: number): number[] {
  const found: number[] = [];
  let inner = facts.definitions[ordinal];
  while (inner?.container !== undefined) {
    const outer = facts.definitions[inner.container];
    if (outer === undefined || !encloses(outer, inner)) break;
    found.push(inner.container);
    inner = outer;
  }
  return found;
}

function isWithin(facts: ShownFacts, ordinal: number, outer: number): boolean {
  return enclosing(facts, ordinal).includes(outer);
}

function encloses(outer: Definition, inner: Definition): boolean {
  return outer.startLine <= inner.startLine && inner.endLine <= outer.endLine;
}

function omissionOf(facts: ShownFacts, ordinal: number, lines: TextLines): string {
  const definition = facts.definitions[ordinal];
  if (definition === undefined) return "";
  // `typedef struct { … } name;` has its name behind the body.
  const isNameless =
    definition.kind === "type" &&
    !lines.text.slice(definition.signature.start, definition.signature.end).includes(definition.name);
  if (isNameless) return ` ${OMITTED} ${definition.name}`;
  return hasHiddenBody(facts, ordinal, lines) ? ` ${OMITTED}` : "";
}

/** Whether something of a definition is not shown by its signature and those of its members. */
function hasHiddenBody(facts: ShownFacts, ordinal: number, lines: TextLines): boolean {
  const definition = facts.definitions[ordinal];
  if (definition === undefined || definition.kind === "heading") return false;
  const next = facts.definitions[ordinal + 1];
  const isShownByMembers =
    definition.kind !== "function" &&
    definition.kind !== "method" &&
    next?.container === ordinal &&
    encloses(definition, next);
  if (isShownByMembers) return false;
  if (lines.text[definition.signature.end - 1] === ";") return false;
  const { end } = definition.signature;
  // Not all of a line: a million definitions may stand on one.
  const rest = lines.text.slice(end, Math.min(lines.end(definition.endLine), end + LONGEST_FIRST_LINE)).trimStart();
  return rest !== "" && !/^[;,)\]}]/.test(rest);
}

/** Headings at the top; below a single title those of the next rank too, since a title alone says little. */
function topHeadings(facts: ShownFacts): number[] {
  const top = facts.definitions.flatMap(({ container }, ordinal) => (container === undefined ? [ordinal] : []));
  const [title] = top;
  if (top.length !== 1 || title === undefined) return top;
  return facts.definitions.flatMap(({ container }, ordinal) =>
    ordinal === title || container === title ? [ordinal] : [],
  );
}

/** The comment a file begins with, unless it describes the first definition. */
function headerOf(facts: ShownFacts, lines: TextLines): string {
  const pattern =
    facts.language === "markdown"
      ? undefined
      : /^\uFEFF?(?:#!.*\r?\n)?\s*(\/\*[^]*?\*\/|(?:\/\/.*\r?\n)+|(?:#(?!!|include|define|if|pragma).*\r?\n)+|"""[^]*?""")/;
  const [, header = ""] = pattern?.exec(lines.text.slice(0, 10_000)) ?? [];
  const start = lines.text.indexOf(header);
  const isShown = facts.definitions.some(
    ({ doc }) => doc !== undefined && doc.start < start + header.length && doc.end > start,
  );
  return isShown ? "" : header.replaceAll("\r\n", "\n").trimEnd();
}

function firstLines(lines: TextLines, count: number): string {
  const summary = `${lines.count} ${lines.count === 1 ? "line" : "lines"}`;
  if (count === 0) return summary;
  const shown: string[] = [];
  for (let line = 1; line <= Math.min(count, lines.count); line++) {
    const start = lines.start(line);
    const whole = lines.text.slice(start, Math.min(lines.end(line), start + LONGEST_FIRST_LINE + 1));
    shown.push(
      whole.length > LONGEST_FIRST_LINE ? `${wellFormed(whole.slice(0, LONGEST_FIRST_LINE))}${OMITTED}` : whole,
    );
  }
  return lines.count > count ? `${shown.join("\n")}\n${OMITTED} (${summary})` : shown.join("\n");
}

/** Without half a character at the end. */
function wellFormed(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text;
}

class TextLines {
  readonly text: string;
  readonly #starts: readonly number[];
  readonly count: number;

  constructor(text: string) {
    this.text = text;
    this.#starts = lineStartsOf(text);
    this.count = Math.max(1, text.endsWith("\n") ? this.#starts.length - 1 : this.#starts.length);
  }

  start(line: number): number {
    return this.#starts[line - 1] ?? this.text.length;
  }

  /** Without the line break. */
  end(line: number): number {
    const next = this.#starts[line];
    if (next === undefined) return this.text.length;
    return this.text[next - 2] === "\r" ? next - 2 : next - 1;
  }

  /**
   * A part of the text with the indentation of its first line, or two spaces for each level when other text stands
   * before it.
   */
  shown(span: Span, depth: number): string {
    const lineStart = this.start(lineAt(this.#starts, span.start));
    const before = this.text.slice(lineStart, Math.min(span.start, lineStart + 200));
    const indent = lineStart + before.length === span.start && /^[ \t]*$/.test(before) ? before : "  ".repeat(depth);
    return indent + this.text.slice(span.start, span.end).replaceAll("\r\n", "\n");
  }
}
