import { AgentsError } from "../../domain/errors.ts";
import { masksIn } from "../../domain/redaction.ts";
import { shown } from "../../domain/text.ts";
import type { FileState } from "../file-state.ts";

/**
 * Refuses to write what only stands for a secret: who read `[masked: API key]` and writes it back would destroy the key. A file in which
 * the very same words are already is about masks, and may be.
 */
export function refuseMasks(given: string, before: FileState | undefined, path: string): void {
  const masks = masksIn(given);
  if (masks.length === 0) return;
  const there = before === undefined ? "" : Buffer.from(before.content).toString("utf8");
  const lost = masks.find((mask) => !there.includes(mask));
  if (lost === undefined) return;
  throw new AgentsError(
    "tool_failed",
    `What is to be written to ${shown(path)} holds "${lost}", which only stands for a secret that was not shown.`,
    {
      kept: "Nothing was changed, and the secret is where it was.",
      next: ["change only the lines around it, with edit_file; to take it elsewhere, use copy_file or move_file"],
      detail: { path, mask: lost },
    },
  );
}
