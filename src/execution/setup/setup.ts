/**
 * Runs the set-up command of a project (`sandbox.setup`, such as `npm ci`) once for each state of its lockfiles. It
 * runs confined, on a copy of the plan's files that stands at the path of the user's checkout, so that the packages it
 * installs know that path, as the user's own do. Of all it makes, the directories of dependencies are kept. Of several
 * processes one runs it, and the others wait for it.
 */
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { confinementHere } from "../../confinement/availability.ts";
import { commandPolicy } from "../../confinement/command-policy.ts";
import type { CommandNetwork } from "../../confinement/network/command-network.ts";
import type { NoticeEvent } from "../../domain/run-event.ts";
import { copyDirectory } from "../../platform/directory-copy.ts";
import { withFileLock } from "../../platform/file-lock.ts";
import { maskedText } from "../../platform/masking.ts";
import { removeTree } from "../../platform/remove-tree.ts";
import { carriedView } from "../sandbox/carried/carried-view.ts";
import { finishedSetup, listFile, setupPlace, setupsIn, type SetupPlace } from "../sandbox/carried/setup-layers.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { lastLines } from "../tools/cut-text.ts";
import { failureOf, runShell } from "../tools/shell.ts";

export interface SetupOptions {
  /** Sandboxes are kept below it. */
  readonly sandboxes: string;
  readonly network: boolean | CommandNetwork;
  readonly requireConfinement: boolean;
  readonly signal: AbortSignal;
}

export type SetupOutcome =
  | { readonly kind: "none" }
  | { readonly kind: "ready"; readonly command: string; readonly parts: readonly string[]; readonly ranMs?: number }
  | { readonly kind: "failed"; readonly command: string; readonly why: string };

/** An installation may take long; one that takes longer waits for something that never comes. */
const TIMEOUT_MS = 30 * 60_000;

export async function ensureSetup(sandbox: Sandbox, options: SetupOptions): Promise<SetupOutcome> {
  const { strategy, root, objects, readOnly } = sandbox;
  if (strategy !== "git_worktree" || readOnly || commandPolicy().setup === undefined) return { kind: "none" };
  const place = await setupPlace({ root, objects }, options.sandboxes);
  if (place === undefined) return { kind: "none" };
  const { command, directory } = place;
  const { kind } = await confinementHere();
  if (kind !== "bubblewrap" && kind !== "namespaces")
    return { kind: "failed", command, why: "it needs commands that are confined by mounts" };
  const ready = (ranMs?: number): SetupOutcome | undefined => {
    const parts = finishedSetup(place)?.map(({ path }) => path);
    return parts && { kind: "ready", command, parts, ...(ranMs === undefined ? {} : { ranMs }) };
  };
  const known = ready();
  if (known !== undefined) return known;
  const { signal } = options;
  return withFileLock(`${directory}.lock`, async () => ready() ?? (await carriedOut(place, sandbox, options, ready)), {
    patienceMs: TIMEOUT_MS,
    signal,
  });
}

async function carriedOut(
  { command, directory }: SetupPlace,
  sandbox: Sandbox,
  options: SetupOptions,
  ready: (ranMs: number) => SetupOutcome | undefined,
): Promise<SetupOutcome> {
  // A process that began it before was killed: the lock is ours.
  for (const name of readdirSync(setupsIn(options.sandboxes)))
    if (name.startsWith(`${basename(directory)}.`) && !name.includes(".lock"))
      await removeTree(join(setupsIn(options.sandboxes), name));
  await removeUnused(setupsIn(options.sandboxes));
  const work = `${directory}.${randomUUID()}`;
  const tree = join(work, "tree");
  mkdirSync(tree, { recursive: true });
  try {
    await copyDirectory(sandbox.root, tree);
    const before = new Set(dependencyDirectories(tree));
    const result = await runInPlaceOf(command, tree, sandbox, options);
    options.signal.throwIfAborted();
    const failure = failureOf(result, TIMEOUT_MS);
    if (failure !== undefined) {
      const said = maskedText(lastLines(result.output)).trim();
      return { kind: "failed", command, why: `it ${failure}${said === "" ? "" : `:\n${said}`}` };
    }
    const made = dependencyDirectories(tree).filter((path) => !before.has(path));
    const done = join(work, "done");
    mkdirSync(done);
    for (const [index, path] of made.entries()) await rename(join(tree, path), join(done, `${index}`));
    writeFileSync(listFile(done), JSON.stringify(made));
    await rename(done, directory);
    const outcome = ready(result.durationMs);
    if (outcome === undefined) throw new Error(`the set-up ${directory} has vanished`);
    return outcome;
  } finally {
    await removeTree(work);
  }
}

/** The copy is seen at the path of the checkout, and nothing else of the user's is seen there. */
function runInPlaceOf(
  command: string,
  tree: string,
  sandbox: Sandbox,
  { network, requireConfinement, signal }: SetupOptions,
): ReturnType<typeof runShell> {
  const { path: checkout } = sandbox;
  const layer = { kind: "write", path: checkout, source: tree } as const;
  // Of the user's, only the caches of package managers come along.
  const caches = carriedView({ path: checkout, strategy: "filesystem_copy", objects: undefined }, dirname(tree));
  return runShell(command, {
    root: tree,
    cwd: checkout,
    timeoutMs: TIMEOUT_MS,
    signal,
    network,
    requireConfinement,
    carried: async () => {
      const view = await caches();
      return { ...view, layers: [layer, ...view.layers], explain: () => undefined };
    },
  });
}

/** More directories than this are not looked into. */
const LOOKED_INTO = 20_000;

/** The directories with a name that comes along, from the top; of one in another, the outer one. */
function dependencyDirectories(tree: string): string[] {
  const { names, paths } = commandPolicy().carry;
  const found: string[] = [];
  const waiting = [""];
  let looked = 0;
  for (let below = waiting.pop(); below !== undefined && looked < LOOKED_INTO; below = waiting.pop()) {
    looked += 1;
    for (const entry of readdirSync(join(tree, below), { withFileTypes: true })) {
      if (!entry.isDirectory() || entry.name === ".git") continue;
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (names.includes(entry.name) || paths.includes(path)) found.push(path);
      else waiting.push(path);
    }
  }
  return found.sort();
}

/** A set-up that no sandbox was opened with for so long is removed. */
const KEPT_MS = 30 * 24 * 60 * 60_000;

async function removeUnused(setups: string): Promise<void> {
  for (const name of readdirSync(setups)) {
    const list = listFile(join(setups, name));
    if (!existsSync(list) || Date.now() - statSync(list).mtimeMs < KEPT_MS) continue;
    const gone = join(setups, `${name}.${randomUUID()}`);
    await rename(join(setups, name), gone);
    await removeTree(gone);
  }
}

/** As it is told to people; undefined when there is nothing new. */
export function setupNotice(outcome: SetupOutcome, alias: string | undefined): NoticeEvent | undefined {
  const subject = alias === undefined ? "tests" : `tests of ${alias}`;
  if (outcome.kind === "failed") {
    const text = `${subject}: cannot run in the sandbox (the set-up "${outcome.command}" failed: ${outcome.why})`;
    return { type: "notice", level: "warning", text };
  }
  if (outcome.kind === "none" || outcome.ranMs === undefined) return undefined;
  const { command, parts, ranMs } = outcome;
  const kept = parts.length === 0 ? "it left no dependencies" : `${parts.join(", ")} kept for this lockfile`;
  const text = `${subject}: set up (${command}, ${Math.round(ranMs / 100) / 10} s; ${kept})`;
  return { type: "notice", level: "info", text };
}

/** As a command that fails is told. */
export function setupNote({ command, why }: Extract<SetupOutcome, { kind: "failed" }>): string {
  return `[the set-up "${command}" of the project failed, so packages may be missing: ${why}]`;
}
