import { createInterface } from "node:readline/promises";
import { UsageError } from "../domain/errors.ts";
import type { Outcome } from "./outcome.ts";

/** Where a question can be asked: both ends must be a terminal. */
export interface Asking {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

const HERE: Asking = { input: process.stdin, output: process.stderr };

export function canAsk({ input, output }: Asking = HERE): boolean {
  return input.isTTY === true && output.isTTY === true;
}

/** Asks before something that cannot be taken back. Without a terminal nobody can answer, so `--yes` is required there. */
export async function confirmed(question: string, yes: boolean, { input, output }: Asking = HERE): Promise<boolean> {
  if (yes) return true;
  if (!canAsk({ input, output })) {
    throw new UsageError(`${question} Nobody can be asked here.`, {
      kept: "Nothing was changed.",
      next: ["repeat the command with --yes"],
    });
  }
  return /^y(es)?$/i.test(await answerTo(`${question} [y/N] `, { input, output }));
}

/** What somebody types; "" when they type nothing. */
export async function answerTo(question: string, { input, output }: Asking = HERE): Promise<string> {
  const prompt = createInterface({ input, output });
  try {
    return (await prompt.question(question)).trim();
  } finally {
    prompt.close();
  }
}

/** What a command gives back when the answer was no. */
export function declined(
  deed: "added" | "deleted" | "removed" | "executed" | "applied" | "undone" | "redone",
): Outcome {
  const text = `Nothing was ${deed}.`;
  return { data: { [deed]: false }, view: [], messages: [{ level: "warning", text }], status: "warn" };
}
