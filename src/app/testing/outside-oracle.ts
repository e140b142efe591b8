/**
 * A plan that an outside agent carried out, worked out a second time from the tables and from git: base and record
 * must make the sandbox, and each change must have the call and the decision of the answer that made it.
 */
import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { Reader } from "../../store/port.ts";

/** `mode` is git's; a link's content is where it leads. */
type Tree = Readonly<Record<string, { readonly mode: string; readonly hash: string }>>;

export interface RecordedPlan {
  readonly base: string;
  readonly changes: readonly RecordedChange[];
}

export interface RecordedChange {
  readonly path: string;
  readonly from_path: string | null;
  readonly before_hash: string | null;
  readonly after_hash: string | null;
  readonly after_mode: number | null;
  readonly tool: string;
  readonly parameters: string;
  readonly outcome: string;
  readonly chosen: string;
  /** The text of the answer. */
  readonly reasoning: string | null;
  /** The key of the durable step that is the answer. */
  readonly answer: string;
}

export async function recordedPlan(reader: Reader, plan: string): Promise<RecordedPlan> {
  const [sandbox] = await reader.all<{ base_commit: string }>(
    "SELECT base_commit FROM sandboxes WHERE plan_id = ?",
    plan,
  );
  const changes = await reader.all<RecordedChange>(
    `SELECT change_entries.path, change_entries.from_path, change_entries.before_hash, change_entries.after_hash,
            change_entries.after_mode, tool_invocations.tool, tool_invocations.parameters, tool_invocations.outcome,
            decisions.chosen, decisions.reasoning, model_calls.step_key AS answer
       FROM change_entries
       JOIN changesets ON changesets.id = change_entries.changeset_id AND changesets.superseded_at IS NULL
       JOIN tool_invocations ON tool_invocations.id = change_entries.tool_invocation
       JOIN decisions ON decisions.id = change_entries.decision AND decisions.id = tool_invocations.decision_id
       JOIN model_calls ON model_calls.decision_id = decisions.id
      WHERE changesets.plan_id = ? AND decisions.superseded_at IS NULL
      ORDER BY tool_invocations.sequence, change_entries.sequence`,
    plan,
  );
  return { base: sandbox?.base_commit ?? "", changes };
}

/** The base with the changes, one after the other. @throws where a change begins with something else. */
export function replayed(repository: string, { base, changes }: RecordedPlan): Tree {
  const tree = new Map(Object.entries(committedTree(repository, base)));
  for (const { path, from_path: from, before_hash: before, after_hash: after, after_mode: mode } of changes) {
    const was = tree.get(from ?? path)?.hash ?? null;
    if (was !== before) throw new Error(`${path} was ${was}, and the record says ${before}`);
    if (from !== null) tree.delete(from);
    if (after === null || mode === null) tree.delete(path);
    else tree.set(path, { mode: mode.toString(8), hash: after });
  }
  return inOrder(tree);
}

function committedTree(repository: string, commit: string): Tree {
  const output = (...words: string[]): Buffer => execFileSync("git", ["-C", repository, ...words]);
  const lines = output("ls-tree", "-rz", commit).toString("utf8").split("\0").filter(Boolean);
  const entries = lines.map((line) => {
    const [, mode = "", object = "", path = ""] = /^(\d+) blob (\w+)\t(.*)$/s.exec(line) ?? [];
    return [path, { mode, hash: hash("sha256", output("cat-file", "blob", object)) }] as const;
  });
  return Object.fromEntries(entries);
}

/** Without what belongs to git. */
export function treeAt(root: string): Tree {
  const tree = new Map<string, Tree[string]>();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(root.length + 1);
    if (entry.isDirectory() || name.split("/").includes(".git")) continue;
    const content = entry.isSymbolicLink() ? readlinkSync(path) : readFileSync(path);
    const executable = (lstatSync(path).mode & 0o100) !== 0;
    const mode = entry.isSymbolicLink() ? "120000" : executable ? "100755" : "100644";
    tree.set(name, { mode, hash: hash("sha256", content) });
  }
  return inOrder(tree);
}

function inOrder(tree: ReadonlyMap<string, Tree[string]>): Tree {
  return Object.fromEntries([...tree].sort(([a], [b]) => (a < b ? -1 : 1)));
}
