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
  const prompt = createInterface({ input, output });
  try {
    const answer = await prompt.question(`${question} [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    prompt.close();
  }
}

/** What a command gives back when the answer was no. */
export function declined(deed: "deleted" | "removed" | "applied" | "undone" | "redone"): Outcome {
  const text = `Nothing was ${deed}.`;
  return { data: { [deed]: false }, view: [], messages: [{ level: "warning", text }], status: "warn" };
}
