/** The output of the demo: chapters, commands with their output, and promises that were checked. */
import { styleText } from "node:util";

const WIDTH = 80;

const bold = (text: string): string => styleText("bold", text);
const dim = (text: string): string => styleText("dim", text);

export class Telling {
  #kept = 0;
  #broken = 0;
  readonly #leftOut: string[] = [];

  get broken(): number {
    return this.#broken;
  }

  chapter(title: string, meaning: string): void {
    console.log(`\n${bold(title)}`);
    for (const line of fold(meaning, "")) console.log(line);
    console.log();
  }

  /** A chapter that cannot be told here. */
  leaveOut(title: string, why: string): void {
    this.chapter(title, `Left out: ${why}`);
    this.#leftOut.push(title);
  }

  command(shown: string): void {
    for (const line of fold(`$ ${shown}`, "    ")) console.log(bold(line));
  }

  /** The output of a command, or a part of it; `who` tells the parts of commands that run at once apart. */
  said(text: string, who = ""): void {
    const before = who === "" ? "  " : `  ${who.padEnd(9)}`;
    for (const line of text.trimEnd().split("\n")) {
      for (const part of fold(line, `${before}       `, before)) console.log(dim(part.trimEnd()));
    }
  }

  /** Says whether a promise was kept; one that was not makes the demo fail in the end. */
  promise(text: string, kept: boolean): void {
    if (kept) this.#kept++;
    else this.#broken++;
    const mark = kept ? styleText("green", "kept  ") : styleText("red", "BROKEN");
    const [first = "", ...rest] = fold(`BROKEN  ${text}`, " ".repeat(8));
    console.log(mark + first.slice("BROKEN".length));
    for (const line of rest) console.log(line);
  }

  end(): void {
    const all = this.#kept + this.#broken;
    console.log(this.#broken === 0 ? bold(`\nAll ${all} promises were kept.`) : `\n${this.#broken} of ${all} BROKEN.`);
    for (const title of this.#leftOut) for (const line of fold(`Left out: ${title}`, "  ")) console.log(line);
  }
}

/**
 * Breaks a wide text at spaces. The first line begins with `lead`, the following ones with `indent`. Neither
 * is ever broken, so each round makes the rest shorter. A word that is too wide by itself stays whole.
 */
function fold(text: string, indent: string, lead = ""): string[] {
  const folded: string[] = [];
  let [before, rest] = [lead, text];
  while (before.length + rest.length > WIDTH) {
    const start = rest.length - rest.trimStart().length;
    const room = WIDTH - before.length;
    const last = rest.lastIndexOf(" ", room);
    const at = last > start ? last : rest.indexOf(" ", Math.max(room, start));
    if (at === -1) break;
    folded.push((before + rest.slice(0, at)).trimEnd());
    [before, rest] = [indent, rest.slice(at).trimStart()];
  }
  return [...folded, before + rest];
}
