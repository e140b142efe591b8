import { createInterface } from "node:readline/promises";
import { UsageError } from "../domain/errors.ts";

/** Asks before something that cannot be taken back. Without a terminal nobody can answer, so `--yes` is required there. */
export async function confirmed(question: string, yes: boolean): Promise<boolean> {
  if (yes) return true;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new UsageError(`${question} Nobody can be asked here.`, {
      kept: "Nothing was changed.",
      next: ["repeat the command with --yes"],
    });
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await prompt.question(`${question} [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    prompt.close();
  }
}
