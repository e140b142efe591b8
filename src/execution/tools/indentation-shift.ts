/**
 * How the indentation of a repeated text differs from the one in the file, when it differs in one way for all its
 * lines: so much more, so much less, or spaces for tabs. Any other difference is not forgiven, because the structure of
 * the code could be another.
 */

/** Makes of a new line one that goes with the file; undefined where it cannot. `index` is its number, from 0. */
export type Shift = (line: string, index: number) => string | undefined;

interface IndentedPair {
  readonly there: string;
  readonly given: string;
}

/** The lines are the same apart from blanks at both ends. */
export function indentationShift(there: readonly string[], given: readonly string[]): Shift | undefined {
  const pairs = given.flatMap((line, index): IndentedPair[] =>
    line.trim() === "" ? [] : [{ there: indentOf(there[index] ?? ""), given: indentOf(line) }],
  );
  const whole = shiftOf(pairs);
  if (whole !== undefined) return whole;
  // The first line is often copied from behind its indentation.
  const [first, ...rest] = pairs;
  if (first === undefined || first.given !== "" || rest.some((pair) => pair.there !== pair.given)) return undefined;
  return (line, index) => (index === 0 && indentOf(line) === "" ? `${first.there}${line}` : line);
}

/**
 * A width of tabs that explains every line goes before one that needs a shift besides: four spaces for two tabs are a
 * width of two, and not a width of four and a tab too few.
 */
function shiftOf(pairs: readonly IndentedPair[]): Shift | undefined {
  const usesTabs = pairs.some(({ there }) => there.includes("\t"));
  const converts = [4, 2, 8, 3].map((width) => (usesTabs ? spacesToTabs(width) : tabsToSpaces(width)));
  const isOther = pairs.some(({ given }) => given.includes(usesTabs ? " " : "\t"));
  if (!isOther) return constantShift(pairs);
  for (const shifted of [false, true]) {
    for (const convert of converts) {
      const converted = pairs.map(({ there, given }) => ({ there, given: convert(given) }));
      if (!shifted && converted.some(({ there, given }) => there !== given)) continue;
      const shift = constantShift(converted);
      if (shift !== undefined) return (line, index) => shift(`${convert(indentOf(line))}${line.trimStart()}`, index);
    }
  }
  return constantShift(pairs);
}

function constantShift(pairs: readonly IndentedPair[]): Shift | undefined {
  const [first] = pairs;
  if (first === undefined) return undefined;
  if (first.there.endsWith(first.given)) {
    const more = first.there.slice(0, first.there.length - first.given.length);
    if (pairs.every(({ there, given }) => there === `${more}${given}`))
      return (line) => (line.trim() === "" ? line : `${more}${line}`);
  }
  if (!first.given.endsWith(first.there)) return undefined;
  const less = first.given.slice(0, first.given.length - first.there.length);
  if (!pairs.every(({ there, given }) => given === `${less}${there}`)) return undefined;
  return (line) => {
    if (line.trim() === "") return "";
    return line.startsWith(less) ? line.slice(less.length) : undefined;
  };
}

function indentOf(line: string): string {
  return line.slice(0, line.length - line.trimStart().length);
}

function spacesToTabs(width: number): (indent: string) => string {
  return (indent) => indent.replaceAll(" ".repeat(width), "\t");
}

function tabsToSpaces(width: number): (indent: string) => string {
  return (indent) => indent.replaceAll("\t", " ".repeat(width));
}
