import { PassThrough } from "node:stream";
import type { Asking } from "../confirm.ts";

/** A terminal at which a person types `before` while nothing is asked yet, and `answer` once there is something to be read. */
export function typedTerminal(answer: string, before = ""): Asking & { readonly seen: () => string } {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = Object.assign(new PassThrough(), { isTTY: true });
  let seen = "";
  output.on("data", (data) => {
    if (seen === "") setImmediate(() => input.write(answer));
    seen += String(data);
  });
  input.write(before);
  return { input, output, seen: () => seen };
}
