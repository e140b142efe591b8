/** The resource in which a tool works, and whether it may change it. */
import { AgentsError, ValidationError } from "../../domain/errors/errors.ts";
import { shown } from "../../domain/text/text.ts";
import type { Workspace } from "../workspace/workspace.ts";

export function requireMayWrite(
  { name, writes }: { readonly name: string; readonly writes: boolean },
  { readOnly }: { readonly readOnly: boolean },
): void {
  if (!writes || !readOnly) return;
  throw new AgentsError("tool_failed", `"${name}" writes, and the plan is read-only.`, {
    kept: "Nothing was changed.",
  });
}

/** The alias may be left out when there is only one. */
export function bindResource(alias: unknown, workspaces: ReadonlyMap<string, Workspace>): Workspace {
  const known = [...workspaces.keys()];
  const [only] = workspaces.values();
  if (alias === undefined && workspaces.size === 1 && only !== undefined) return only;
  const found = typeof alias === "string" ? workspaces.get(alias) : undefined;
  if (found !== undefined) return found;
  const message =
    alias === undefined
      ? `Which resource? The plan has ${known.length === 0 ? "none" : known.join(", ")}.`
      : `The plan has no resource ${shown(alias)} (it has: ${known.join(", ") || "none"}).`;
  throw new ValidationError(message, [{ path: "resource", message }]);
}
