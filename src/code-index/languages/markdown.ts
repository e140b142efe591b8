/**
 * Headings, relative links and code fences of Markdown, line by line: lines hold all that a reader needs, and nesting
 * cannot hurt.
 */
import type { Definition, FileFacts, Import } from "../model/facts.ts";
import { lineStartsOf } from "./lines.ts";

/** A line longer than this is searched for links only so far. */
const LONGEST_LINE = 10_000;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]|\r?$)/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*\r?$/;
const LINK = /\]\(\s*(?:<([^<>\n]*)>|([^\s()<>]+))|^ {0,3}\[[^\]\n]+\]:[ \t]*<?([^\s<>]+)/g;

interface Heading {
  readonly name: string;
  readonly rank: number;
  readonly line: number;
  readonly start: number;
  readonly end: number;
}

export function analyzeMarkdown(text: string): FileFacts {
  const starts = lineStartsOf(text);
  const headings: Heading[] = [];
  const imports: Import[] = [];
  let fence: string | undefined;
  let inFrontMatter = /^\uFEFF?---[ \t]*\r?\n/.test(text);
  // The line before, if it can be the text of a heading that is underlined.
  let paragraph = -1;
  for (const [index, start] of starts.entries()) {
    const line = text.slice(start, Math.min(starts[index + 1] ?? text.length, start + LONGEST_LINE)).replace(/\n$/, "");
    if (inFrontMatter) {
      if (index > 0 && /^(---|\.\.\.)[ \t]*\r?$/.test(line)) inFrontMatter = false;
      continue;
    }
    const marker = FENCE.exec(line)?.[1];
    if (fence !== undefined) {
      if (marker?.startsWith(fence) === true && line.trim() === marker) fence = undefined;
      continue;
    }
    if (marker !== undefined) {
      fence = marker;
      paragraph = -1;
      continue;
    }
    collectLinks(line, index + 1, imports);
    const heading = HEADING.exec(line);
    const underline = UNDERLINE.exec(line);
    const end = start + line.trimEnd().length;
    if (heading !== null) {
      const title = titleOf(line, heading[0].length);
      addHeading(headings, text, { title, rank: heading[1]?.length ?? 1, line: index, from: start, end });
    } else if (underline !== null && paragraph >= 0) {
      const from = starts[paragraph] ?? 0;
      const rank = underline[1]?.startsWith("=") === true ? 1 : 2;
      addHeading(headings, text, { title: text.slice(from, start), rank, line: paragraph, from, end });
    }
    const isText = heading === null && underline === null && /^ {0,3}[^\s>*+|-]/.test(line);
    paragraph = isText ? index : -1;
  }
  return {
    language: "markdown",
    definitions: sections(text, starts, headings),
    references: [],
    imports,
    incomplete: undefined,
  };
}

/**
 * Without the hashes a heading may be closed with. By hand, because expressions with spaces on both sides take ever
 * longer.
 */
function titleOf(line: string, from: number): string {
  const title = line.slice(from).trim();
  let end = title.length;
  while (title[end - 1] === "#") end--;
  return end === 0 || /\s/.test(title[end - 1] ?? "") ? title.slice(0, end) : title;
}

function addHeading(
  headings: Heading[],
  text: string,
  { title, rank, line, from, end }: { title: string; rank: number; line: number; from: number; end: number },
): void {
  const name = title.trim();
  let start = from;
  while (start < end && /[\s\uFEFF]/.test(text[start] ?? "")) start++;
  if (name !== "") headings.push({ name, rank, line: line + 1, start, end });
}

/** A heading's section continues until the next heading that is not below it. */
function sections(text: string, starts: readonly number[], headings: readonly Heading[]): Definition[] {
  const lastLine = text.endsWith("\n") ? Math.max(1, starts.length - 1) : starts.length;
  const ends: number[] = headings.map(() => lastLine);
  const containers: (number | undefined)[] = [];
  const open: number[] = [];
  for (const [ordinal, heading] of headings.entries()) {
    for (let above = open.at(-1); above !== undefined; above = open.at(-1)) {
      if ((headings[above]?.rank ?? 0) < heading.rank) break;
      ends[above] = heading.line - 1;
      open.pop();
    }
    containers.push(open.at(-1));
    open.push(ordinal);
  }
  return headings.map((heading, ordinal) => ({
    name: heading.name,
    kind: "heading",
    container: containers[ordinal],
    exported: true,
    startLine: heading.line,
    endLine: ends[ordinal] ?? lastLine,
    signature: { start: heading.start, end: heading.end },
    doc: firstParagraph(text, heading.end, sectionEnd(text, starts, headings[ordinal + 1])),
  }));
}

function sectionEnd(text: string, starts: readonly number[], next: Heading | undefined): number {
  return next === undefined ? text.length : (starts[next.line - 1] ?? text.length);
}

/** The first lines of text under a heading, up to a blank line; none if a fence comes first. */
function firstParagraph(text: string, from: number, to: number): { start: number; end: number } | undefined {
  let start = from;
  while (start < to && /\s/.test(text[start] ?? "")) start++;
  if (start === to || FENCE.test(text.slice(start, start + 10))) return undefined;
  const section = text.slice(start, to);
  const length = /\r?\n[ \t]*(?:\r?\n|$)|\r?\n {0,3}(?:`{3,}|~{3,})/.exec(section)?.index ?? section.length;
  return { start, end: start + section.slice(0, length).trimEnd().length };
}

function collectLinks(line: string, number: number, imports: Import[]): void {
  for (const match of line.matchAll(LINK)) {
    const target = (match[1] ?? match[2] ?? match[3] ?? "").replace(/[#?].*$/s, "");
    if (target === "" || target.startsWith("/") || /^[a-z][a-z0-9+.-]*:/i.test(target)) continue;
    imports.push({ specifier: target, line: number });
  }
}
