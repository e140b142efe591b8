/** The sides of a conflict as they are: where the plan began, the branch or directory of the user, and the plan. */
import { isUtf8 } from "node:buffer";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FileImage } from "../domain/plan/change-entry.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { targetChanges } from "../changes/net-changes.ts";
import { git } from "../git/git.ts";
import { ChangesetStore } from "../ledger/changesets.ts";
import type { LandingConflict } from "../ledger/landing.ts";
import type { Store } from "../store/port.ts";
import { entriesOf, recordsOf } from "./plan-landing.ts";
import { find } from "./user-tree.ts";

export interface ConflictSide {
  /** A file with lines, one without, a link, or nothing at that path. */
  readonly kind: "text" | "binary" | "link" | "missing";
  /** As git writes it: "100644". */
  readonly mode: string | undefined;
  readonly bytes: number;
  readonly content: Uint8Array;
}

/** Lines of the three sides that cannot all be kept. */
interface ConflictingLines {
  /** The number of the first line in the user's file. */
  readonly line: number;
  readonly yours: readonly string[];
  readonly base: readonly string[];
  readonly plans: readonly string[];
}

export interface ShownConflict extends LandingConflict {
  readonly path: string;
  /** Which way it cannot be merged; `uncommitted`: the branch could take it, a file on disk is in the way. */
  readonly kind: "lines" | "binary" | "deleted" | "added" | "mode" | "uncommitted";
  readonly base: ConflictSide;
  readonly yours: ConflictSide;
  readonly plans: ConflictSide;
  readonly lines: readonly ConflictingLines[];
}

const MISSING: ConflictSide = { kind: "missing", mode: undefined, bytes: 0, content: new Uint8Array() };

/** Conflicts about a path; those about a whole resource have no sides. */
export async function conflictSides(
  store: Store,
  plan: Plan,
  conflicts: readonly LandingConflict[],
): Promise<ShownConflict[]> {
  const [entries, records, changesets] = [
    await entriesOf(store, plan),
    await recordsOf(store, plan),
    new ChangesetStore(store),
  ];
  const recorded = async (image: FileImage | undefined): Promise<ConflictSide> => {
    if (image === undefined) return MISSING;
    return sideOf(image.mode.toString(8), (await changesets.content(image.hash)) ?? new Uint8Array());
  };
  const sides: ShownConflict[] = [];
  for (const conflict of conflicts) {
    const { resource, path } = conflict;
    const record = records.find(({ alias }) => alias === resource);
    if (path === undefined || record === undefined) continue;
    const net = targetChanges(entries.filter((entry) => entry.resource === resource)).get(path);
    const [base, plans] = [await recorded(net?.before), await recorded(net?.after)];
    const isGit = record.baseCommit !== undefined;
    const yours = isGit ? await committed(record.path, record.ref ?? "HEAD", path) : onDisk(record.path, path);
    const lines = [base, yours, plans].every(({ kind }) => kind === "text" || kind === "missing")
      ? await conflictingLines(base, yours, plans)
      : [];
    const kind = kindOf({ base, yours, plans, hasLines: lines.length > 0 });
    sides.push({ ...conflict, path, kind, base, yours, plans, lines });
  }
  return sides;
}

function kindOf(
  sides: Record<"base" | "yours" | "plans", ConflictSide> & { hasLines: boolean },
): ShownConflict["kind"] {
  const { base, yours, plans, hasLines } = sides;
  const same = (a: ConflictSide, b: ConflictSide): boolean =>
    a.kind === b.kind && a.mode === b.mode && Buffer.compare(a.content, b.content) === 0;
  if (same(base, yours)) return "uncommitted";
  if (yours.kind === "missing" || plans.kind === "missing") return "deleted";
  if (base.kind === "missing") return "added";
  if ([base, yours, plans].some(({ kind }) => kind !== "text")) return "binary";
  if (hasLines) return "lines";
  return yours.mode === plans.mode ? "uncommitted" : "mode";
}

function sideOf(mode: string, content: Uint8Array): ConflictSide {
  const kind = mode === "120000" ? "link" : isUtf8(content) && !content.includes(0) ? "text" : "binary";
  return { kind, mode, bytes: content.byteLength, content };
}

async function committed(root: string, ref: string, path: string): Promise<ConflictSide> {
  const listed = await git(["--literal-pathspecs", "ls-tree", "-z", "--full-tree", ref, "--", path], {
    cwd: root,
    accept: [0, 128],
  });
  const [, mode, kind, object] = /^(\d+) (\w+) ([0-9a-f]+)\t/.exec(listed.stdout.toString("utf8")) ?? [];
  if (mode === undefined || object === undefined || kind !== "blob") return MISSING;
  const { stdout } = await git(["cat-file", "blob", object], { cwd: root });
  return sideOf(mode, stdout);
}

function onDisk(root: string, path: string): ConflictSide {
  const found = find(root, path);
  if (typeof found === "string") return MISSING;
  return sideOf(found.image.mode.toString(8), found.content);
}

const MARKS = ["<<<<<<< yours", "||||||| base", "=======", ">>>>>>> plan"] as const;

/** As git merges them: only the lines that cannot all be kept. */
async function conflictingLines(
  base: ConflictSide,
  yours: ConflictSide,
  plans: ConflictSide,
): Promise<ConflictingLines[]> {
  const merged = await mergedLines({ base, yours, plans }, "--diff3");
  return readConflicts(merged.toString("utf8"));
}

/** The three sides as git merges them: with the conflicts in it, or with the user's lines where they conflict. */
export async function mergedLines(
  { base, yours, plans }: Record<"base" | "yours" | "plans", ConflictSide>,
  conflicts: "--diff3" | "--ours",
): Promise<Buffer> {
  const scratch = mkdtempSync(join(tmpdir(), "cleveragents-conflict-"));
  try {
    const names = ["yours", "base", "plan"] as const;
    for (const [index, side] of [yours, base, plans].entries())
      writeFileSync(join(scratch, names[index] ?? ""), side.content);
    const labels = names.flatMap((name) => ["-L", name]);
    const args = ["merge-file", "--stdout", conflicts, "--marker-size=7", ...labels, ...names];
    const { stdout } = await git(args, { cwd: scratch, accept: "any" });
    return stdout;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function readConflicts(merged: string): ConflictingLines[] {
  const found: ConflictingLines[] = [];
  let at = 0;
  let line = 1;
  const lines = merged.split("\n");
  const until = (mark: string): string[] => {
    const from = at;
    while (at < lines.length && lines[at]?.replace(/\r$/, "") !== mark) at += 1;
    const between = lines.slice(from, at);
    at += 1;
    return between;
  };
  while (at < lines.length) {
    line += until(MARKS[0]).length;
    if (at >= lines.length) break;
    const [yours, base, plans] = [until(MARKS[1]), until(MARKS[2]), until(MARKS[3])];
    found.push({ line, yours, base, plans });
    line += yours.length;
  }
  return found;
}
