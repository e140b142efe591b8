/**
 * The commands that a conversation believes to run in the background, although the process that ran them has ended: a
 * resumed conversation finds their start among its recorded calls, and none of them in its sandboxes.
 */
import { isJsonObject, type JsonValue } from "../domain/values/json.ts";
import type { Workspace } from "../execution/workspace/workspace.ts";

export class GoneCommands {
  readonly #ids = new Set<string>();

  /** Takes note of the output of a call, made or recorded. */
  note(output: JsonValue, workspaces: ReadonlyMap<string, Workspace>): void {
    if (!isJsonObject(output) || typeof output["background"] !== "string") return;
    const { background: id, running } = output;
    const here = [...workspaces.values()].some(({ background }) => background?.get(id) !== undefined);
    if (running === true && !here) this.#ids.add(id);
    else this.#ids.delete(id);
  }

  /** Those that the model was not told of. */
  ids(): string[] {
    return [...this.#ids];
  }

  told(ids: readonly string[]): void {
    for (const id of ids) this.#ids.delete(id);
  }
}

export function goneNote(id: string): string {
  return `Note: the background command ${id} is gone, because the process that ran it ended. Its recorded changes are there. Start it again if you need it.`;
}
