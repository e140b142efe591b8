import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import type { Asking } from "../terminal/confirm.ts";

/** A terminal at which a person types the next of these each time that a question is shown. */
export function typedAnswers(answers: readonly string[]): Asking & { readonly seen: () => string } {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = Object.assign(new PassThrough(), { isTTY: true });
  const left = [...answers];
  let seen = "";
  let fresh = "";
  output.on("data", (data) => {
    seen += String(data);
    fresh += String(data);
    if (!/[?>\]] $/.test(stripVTControlCharacters(fresh))) return;
    fresh = "";
    const next = left.shift();
    // No answer is left: the person closes the terminal.
    setImmediate(() => input.write(next ?? "\u0004"));
  });
  return { input, output, seen: () => seen };
}

/** A terminal at which a person types `before` while no question is shown, and `answer` once one is. */
export function typedTerminal(answer: string, before = ""): Asking & { readonly seen: () => string } {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = Object.assign(new PassThrough(), { isTTY: true });
  let seen = "";
  let answered = false;
  output.on("data", (data) => {
    seen += String(data);
    if (answered || !/[?>\]] $/.test(stripVTControlCharacters(seen))) return;
    answered = true;
    setImmediate(() => input.write(answer));
  });
  input.write(before);
  return { input, output, seen: () => seen };
}
