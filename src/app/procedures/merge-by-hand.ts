/** A conflict merged by a person: in the editor, with conflict markers, or in the merge tool that git is set to. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { PlanError, UsageError } from "../../domain/errors/errors.ts";
import type { Environment } from "../../domain/values/environment.ts";
import { mergedLines, type ConflictSide, type ShownConflict } from "../../apply/conflict-sides.ts";
import { stateOf } from "../../apply/resolution.ts";
import { mergeToolName, mergeWithTool } from "../../git/merge-tool.ts";
import type { FileState } from "../../platform/file-state.ts";
import { runInForeground } from "../../platform/foreground-program.ts";
import { confirmed, type Call } from "../base/call.ts";

/** Merges one file: the content as it was left, undefined when the program failed. */
export type HandMerge = (conflict: ShownConflict) => Promise<Uint8Array | undefined>;

/** @throws UsageError when no editor is set. */
export function editorMerge(environment: Environment, call: Call): HandMerge {
  const editor = [environment["VISUAL"], environment["EDITOR"]].find((one) => one !== undefined && one.trim() !== "");
  if (editor === undefined) {
    throw new UsageError("No editor is set: set VISUAL or EDITOR to the program that you edit with.", {
      kept: "Nothing was changed.",
      next: [{ text: "or use --tool, --file, --take-yours or --take-plan" }],
    });
  }
  return async (conflict) => {
    const scratch = await mkdtemp(join(tmpdir(), "cleveragents-resolve-"));
    try {
      const file = join(scratch, basename(conflict.path));
      await writeFile(file, await mergedLines(conflict, "--diff3"));
      // As git starts an editor: the setting may have words of its own. Standard output is for our own answer.
      const command = ["/bin/sh", "-c", `${editor} "$@" >&2`, editor, file] as const;
      const code = await runInForeground([...command], {
        environment: present(environment),
        directory: scratch,
        signal: call.signal,
      });
      return code === 0 ? await readFile(file) : undefined;
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  };
}

/** @throws UsageError when git has no merge tool in the settings of that directory. */
export async function toolMerge(directory: string, environment: Environment, call: Call): Promise<HandMerge> {
  if ((await mergeToolName(directory)) === undefined) {
    throw new UsageError("Git is set to no merge tool.", {
      kept: "Nothing was changed.",
      next: [{ text: "git config --global merge.tool <name>" }],
    });
  }
  const run = { directory, environment: present(environment), signal: call.signal };
  const bytes = (side: ConflictSide): Uint8Array | undefined => stateOf(side)?.content;
  return async (conflict) => {
    const { path, base, yours, plans } = conflict;
    const sides = { path, base: bytes(base), local: bytes(yours), remote: bytes(plans) };
    return mergeWithTool({ ...sides, merged: await mergedLines(conflict, "--diff3") }, run);
  };
}

/** Merges the file, again where its markers are left and the person wants to; what is not merged is an error. */
export async function mergedByHand(conflict: ShownConflict, merge: HandMerge, call: Call): Promise<FileState> {
  const name = `${conflict.resource}/${conflict.path}`;
  if ([conflict.yours, conflict.plans].some(({ kind }) => kind !== "text")) {
    throw new UsageError(`${name} has no lines to merge on both sides: say which side to take.`, {
      kept: "Nothing was changed.",
      next: [{ text: `--take-yours ${conflict.path}, or --take-plan ${conflict.path}` }],
    });
  }
  for (;;) {
    const content = await merge(conflict);
    const problem = content === undefined ? "was not merged: the program failed" : markerProblem(content);
    if (content !== undefined && problem === undefined) return { content, mode: modeOf(conflict) };
    const again = call.answers === "person" && (await confirmed(call, `${name} ${problem}. Open it again?`));
    if (!again) throw unmergedError(name, problem ?? "");
  }
}

/** A mode that one side changed is that side's. */
export function modeOf({ base, yours, plans }: ShownConflict): number {
  return Number.parseInt((yours.mode === base.mode ? plans.mode : yours.mode) ?? "100644", 8);
}

/** Undefined for a file without conflict markers. */
export function markerProblem(content: Uint8Array): string | undefined {
  const text = Buffer.from(content).toString("utf8");
  return /^<{7}( |$)/m.test(text) && /^>{7}( |$)/m.test(text) ? "still has conflict markers" : undefined;
}

export function unmergedError(name: string, problem: string): PlanError {
  return new PlanError(`${name} ${problem}.`, { kept: "Nothing was changed." });
}

function present(environment: Environment): Record<string, string> {
  const set = Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return Object.fromEntries(set) as Record<string, string>;
}
