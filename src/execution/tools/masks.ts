/**
 * Refuses to write a mask in place of a secret: a model that read `[masked: API key]` and writes it back would
 * destroy the key. A file that holds the very same words already is about masks, and may keep them.
 */
import { AgentsError } from "../../domain/errors/errors.ts";
import { masksIn } from "../../domain/secrets/redaction.ts";
import { shown } from "../../domain/text/text.ts";
import type { FileState } from "../../platform/file-state.ts";

export function refuseMasks(given: string, before: FileState | undefined, path: string): void {
  const masks = masksIn(given);
  if (masks.length === 0) return;
  const there = before === undefined ? "" : Buffer.from(before.content).toString("utf8");
  const lost = masks.find((mask) => !there.includes(mask));
  if (lost === undefined) return;
  throw new AgentsError(
    "tool_failed",
    `The new content of ${shown(path)} holds "${lost}", which only stands for a secret that was not shown.`,
    {
      kept: "Nothing was changed, and the secret is where it was.",
      next: [
        { text: "change only the lines around it, with edit_file; to take it elsewhere, use move_file or a command" },
      ],
      detail: { path, mask: lost },
    },
  );
}
