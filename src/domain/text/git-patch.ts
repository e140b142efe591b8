/**
 * A patch as `git diff` prints it, taken apart: files, hunks, and in each hunk the groups of changed lines that can be
 * taken or left one by one.
 */
export interface PatchFile {
  /** The lines in front of the first hunk, and for a binary file all of them. */
  readonly header: readonly string[];
  /** Its path on each side; undefined where it does not exist. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly isBinary: boolean;
  readonly hunks: readonly PatchHunk[];
}

export interface PatchHunk {
  readonly header: string;
  readonly oldStart: number;
  readonly newStart: number;
  /** With their first character, and "\ No newline at end of file". */
  readonly lines: readonly string[];
}

/** Lines that are replaced by others, without any that stay in between. */
export interface LineGroup {
  /** How many lines of the old file stand in front of it. */
  readonly oldAt: number;
  readonly newAt: number;
  /** With their line ends, so that joined they are the bytes of the file. */
  readonly removed: readonly string[];
  readonly added: readonly string[];
  /** The places of its lines in the hunk: from, and up to but without. */
  readonly from: number;
  readonly to: number;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

export function parsePatch(patch: string): PatchFile[] {
  const lines = patch.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const files: PatchFile[] = [];
  let at = 0;
  while (at < lines.length) {
    if (!(lines[at] ?? "").startsWith("diff --git ")) {
      at += 1;
      continue;
    }
    const header: string[] = [lines[at] ?? ""];
    at += 1;
    for (; at < lines.length && !/^(?:diff --git |@@ )/.test(lines[at] ?? ""); at += 1) header.push(lines[at] ?? "");
    const hunks: PatchHunk[] = [];
    for (let hunk = readHunk(lines, at); hunk !== undefined; hunk = readHunk(lines, at)) {
      hunks.push(hunk);
      at += 1 + hunk.lines.length;
    }
    files.push({ header, ...pathsOf(header), isBinary: header.includes("GIT binary patch"), hunks });
  }
  return files;
}

/** As long as its header says: a removed line may look like the header of the next file. */
function readHunk(lines: readonly string[], at: number): PatchHunk | undefined {
  const header = lines[at] ?? "";
  const found = HUNK.exec(header);
  if (found === null) return undefined;
  let [old, now] = [Number(found[2] ?? 1), Number(found[4] ?? 1)];
  let end = at + 1;
  for (; end < lines.length && (old > 0 || now > 0); end += 1) {
    const sign = (lines[end] ?? "").charAt(0);
    if (sign === "\\") continue;
    if (sign !== "+") old -= 1;
    if (sign !== "-") now -= 1;
  }
  if ((lines[end] ?? "").startsWith("\\")) end += 1;
  const [oldStart, newStart] = [Number(found[1]), Number(found[3])];
  return { header, oldStart, newStart, lines: lines.slice(at + 1, end) };
}

function pathsOf(header: readonly string[]): Pick<PatchFile, "before" | "after"> {
  const value = (prefix: string): string | undefined =>
    header.find((line) => line.startsWith(prefix))?.slice(prefix.length);
  const [from, to] = [value("rename from "), value("rename to ")];
  if (from !== undefined && to !== undefined) return { before: unquoted(from), after: unquoted(to) };
  const both = bothPaths(header[0] ?? "");
  const isNew = value("new file mode ") !== undefined;
  const isGone = value("deleted file mode ") !== undefined;
  return { before: isNew ? undefined : both, after: isGone ? undefined : both };
}

/** Both names are the same: `a/` and `b/` in front of equal halves. */
function bothPaths(line: string): string {
  const names = line.slice("diff --git ".length);
  const half = (names.length - 1) / 2;
  const [first, second] = [names.slice(0, half), names.slice(half + 1)];
  const path = unquoted(second);
  return unquoted(first).slice(2) === path.slice(2) ? path.slice(2) : path;
}

const ESCAPES: Readonly<Record<string, string>> = { a: "\u0007", b: "\b", t: "\t", n: "\n", v: "\v", f: "\f", r: "\r" };

/** Git quotes a name that holds a quotation mark or a control character, as C does. */
function unquoted(name: string): string {
  if (!name.startsWith('"') || !name.endsWith('"')) return name;
  const bytes: Buffer[] = [];
  for (const [part, octal, letter] of name.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|[^\\]+/gsu)) {
    if (octal !== undefined) bytes.push(Buffer.from([Number.parseInt(octal, 8)]));
    else bytes.push(Buffer.from(letter === undefined ? part : (ESCAPES[letter] ?? letter)));
  }
  return Buffer.concat(bytes).toString("utf8");
}

export function groupsOf(hunk: PatchHunk): LineGroup[] {
  const groups: LineGroup[] = [];
  // "-0,0" and "+0,0" of a new or deleted file count from 0 already.
  let [oldAt, newAt] = [Math.max(0, hunk.oldStart - 1), Math.max(0, hunk.newStart - 1)];
  const counts = HUNK.exec(hunk.header);
  // A hunk without lines on a side says after which line it stands.
  if (counts?.[2] === "0") oldAt = hunk.oldStart;
  if (counts?.[4] === "0") newAt = hunk.newStart;
  let index = 0;
  while (index < hunk.lines.length) {
    if (!/^[-+]/.test(hunk.lines[index] ?? "")) {
      if ((hunk.lines[index] ?? "").startsWith("\\")) index += 1;
      else [oldAt, newAt, index] = [oldAt + 1, newAt + 1, index + 1];
      continue;
    }
    const from = index;
    const [removed, added]: [string[], string[]] = [[], []];
    for (; index < hunk.lines.length && /^[-+\\]/.test(hunk.lines[index] ?? ""); index += 1) {
      const line = hunk.lines[index] ?? "";
      if (line.startsWith("\\")) continue;
      const end = (hunk.lines[index + 1] ?? "").startsWith("\\") ? "" : "\n";
      (line.startsWith("-") ? removed : added).push(line.slice(1) + end);
    }
    groups.push({ oldAt, newAt, removed, added, from, to: index });
    [oldAt, newAt] = [oldAt + removed.length, newAt + added.length];
  }
  return groups;
}

/** How many lines the hunks add and remove. */
export function countChanged(hunks: readonly PatchHunk[]): { insertions: number; deletions: number } {
  let [insertions, deletions] = [0, 0];
  for (const line of hunks.flatMap((hunk) => hunk.lines)) {
    if (line.startsWith("+")) insertions += 1;
    else if (line.startsWith("-")) deletions += 1;
  }
  return { insertions, deletions };
}

/** The file as its lines, each with its line end; joined they are the text again. */
export function linesOf(text: string): string[] {
  return text === "" ? [] : (text.match(/[^\n]*\n|[^\n]+$/g) ?? []);
}
