/**
 * The merge tool that the user has configured for git, for one file with its three sides. Git itself runs it, in a
 * scratch repository that has this one conflict: so every tool works that `git mergetool` knows, by the same rules.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { runInForeground } from "../platform/foreground-program.ts";
import { git } from "./git.ts";

export interface MergedSides {
  /** The name of the file, by which a tool may choose its colors. */
  readonly path: string;
  /** Undefined where a side has no file. */
  readonly base: Uint8Array | undefined;
  readonly local: Uint8Array | undefined;
  readonly remote: Uint8Array | undefined;
  /** The content with which the merged file begins. */
  readonly merged: Uint8Array;
}

export interface MergeToolRun {
  /** The user's directory, whose git settings name the tool. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** The merged file as the tool left it; undefined when the tool failed, or left the conflict. */
export async function mergeWithTool(sides: MergedSides, run: MergeToolRun): Promise<Uint8Array | undefined> {
  const scratch = await mkdtemp(join(tmpdir(), "cleveragents-mergetool-"));
  try {
    const name = basename(sides.path);
    await git(["init", "--quiet", scratch], { cwd: scratch });
    for (const [key, value] of await toolSettings(run.directory))
      await git(["config", "--add", key, value], { cwd: scratch });
    const stages: string[] = [];
    for (const [stage, content] of [sides.base, sides.local, sides.remote].entries()) {
      if (content === undefined) continue;
      const { stdout } = await git(["hash-object", "-w", "--stdin", "--no-filters"], { cwd: scratch, input: content });
      stages.push(`100644 ${stdout.toString("utf8").trim()} ${stage + 1}\t${name}\0`);
    }
    await git(["update-index", "-z", "--index-info"], { cwd: scratch, input: stages.join("") });
    await writeFile(join(scratch, name), sides.merged);
    const { environment, signal } = run;
    // Git and tools in a terminal write to standard output, which is for our own answer.
    const command = ["/bin/sh", "-c", 'exec git mergetool --no-prompt -- "$1" >&2', "git", name] as const;
    const code = await runInForeground([...command], { environment, directory: scratch, signal });
    const unmerged = (await git(["ls-files", "--unmerged", "-z"], { cwd: scratch })).stdout;
    if (code !== 0 || unmerged.byteLength > 0) return undefined;
    return await readFile(join(scratch, name));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The name of the configured tool; undefined when there is none. */
export async function mergeToolName(directory: string): Promise<string | undefined> {
  return (await toolSettings(directory)).findLast(([key]) => key === "merge.tool")?.[1];
}

/** The user's settings of merge tools, those of the repository too: the scratch repository has none of its own. */
async function toolSettings(directory: string): Promise<(readonly [key: string, value: string])[]> {
  const wanted = ["config", "--includes", "-z", "--get-regexp", "^(merge\\.(tool|guitool|conflictstyle)|mergetool\\.)"];
  const { stdout } = await git(wanted, { cwd: directory, accept: [0, 1] });
  const entries = stdout.toString("utf8").split("\0").filter(Boolean);
  return entries.map((entry) => {
    const end = entry.indexOf("\n");
    // A setting without a value means true.
    return end === -1 ? [entry, "true"] : [entry.slice(0, end), entry.slice(end + 1)];
  });
}
