import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { UsageError } from "../../domain/errors/errors.ts";
import { visible } from "../../domain/text/text.ts";
import { editorOutput, type Output } from "./gate.ts";
import type { Outcome } from "./outcome.ts";

/** Where a question can be asked: both ends must be a terminal. */
export interface Asking {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean; readonly setRawMode?: (on: boolean) => unknown };
  readonly output: Output;
}

export function canAsk({ input, output }: Asking): boolean {
  return input.isTTY === true && output.isTTY === true;
}

/**
 * Asks before something that cannot be undone. Without a terminal the user cannot answer, so `--yes` is required there.
 */
export async function confirmed(question: string, yes: boolean, asking: Asking): Promise<boolean> {
  if (yes) return true;
  if (!canAsk(asking)) {
    throw new UsageError(`${question} There is no terminal to ask on.`, {
      kept: "Nothing was changed.",
      next: [{ text: "repeat the command with --yes" }],
    });
  }
  return /^y(es)?$/i.test(await answerTo(`${question} [y/N] `, asking));
}

/** The person's answer; "" for an empty one, Ctrl-C or Ctrl-D. */
export async function answerTo(question: string, asking: Asking): Promise<string> {
  return (await typedAnswer(question, asking)) ?? "";
}

/** The same; undefined for Ctrl-C or Ctrl-D. A hidden answer is not shown while it is typed. */
export async function typedAnswer(
  question: string,
  { input, output }: Asking,
  hidden = false,
): Promise<string | undefined> {
  if (!(await discardTyped(input))) return undefined;
  if (hidden) output.write(visible(question));
  const shown = hidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : editorOutput(output);
  const prompt = createInterface({ input, output: shown, terminal: true, historySize: 0 });
  return new Promise((resolve) => {
    let answer: string | undefined;
    prompt.on("SIGINT", () => prompt.close());
    prompt.on("close", () => {
      if (hidden || answer === undefined) output.write("\n");
      resolve(answer?.trim());
    });
    prompt.question(visible(question), (typed) => {
      answer = typed;
      prompt.close();
    });
  });
}

const QUIET_MS = 10;
const LONGEST_MS = 2_000;
const CTRL_C = "\u0003";

/**
 * Discards keys that were typed before the question was shown, because they answer something else. Raw mode makes the
 * terminal deliver an unfinished line too. Typed keys take a moment to arrive, so the input must stay quiet for a few
 * milliseconds. False when there is nothing to ask: Ctrl-C arrived, which in raw mode is a character and not a signal,
 * or the input ended or never gets quiet.
 */
async function discardTyped(input: Asking["input"]): Promise<boolean> {
  let typed = "";
  let interrupted = false;
  const note = (data: unknown): void => {
    typed = String(data);
    interrupted ||= typed.includes(CTRL_C);
  };
  input.setRawMode?.(true);
  input.on("data", note);
  // After an earlier question the input is paused, and would keep what was typed for the next one.
  input.resume();
  let rounds = 0;
  do {
    typed = "";
    await pause(QUIET_MS);
    rounds += 1;
  } while (typed !== "" && rounds * QUIET_MS < LONGEST_MS);
  input.off("data", note);
  input.pause();
  const quiet = typed === "" && !interrupted && input.readable;
  if (!quiet) input.setRawMode?.(false);
  return quiet;
}

/** The outcome of a command when the answer was no. */
export function declined(
  deed: "added" | "deleted" | "removed" | "executed" | "applied" | "undone" | "redone",
): Outcome {
  const text = `Nothing was ${deed}.`;
  return { data: { [deed]: false }, view: [], messages: [{ level: "warning", text }], status: "warn" };
}
