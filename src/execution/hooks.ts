import { constants } from "node:fs";
import { mkdtemp, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentsError } from "../domain/errors.ts";
import { monotonicIds, type ChangesetId, type DecisionId } from "../domain/ids.ts";
import type { Plan } from "../domain/plan.ts";
import { printable, TEXT_LIMIT, textProblem } from "../domain/text.ts";
import { ChangesetStore } from "../ledger/changesets.ts";
import { findDecisions, insertDecision } from "../ledger/decisions.ts";
import { assertHeld, type Lease } from "../ledger/leases.ts";
import { runStep } from "../ledger/steps.ts";
import { maskedText } from "../store/masking.ts";
import type { Store } from "../store/store.ts";
import { commitMessage } from "./commit-message.ts";
import { git } from "./git.ts";
import { findHooks, HOOK_NAMES, identityOf, stageChanges, type HookName } from "./hook-files.ts";
import { netChanges, type NetChange } from "./net-changes.ts";
import { removeTree } from "./remove-tree.ts";
import { gitIn } from "./sandbox-facts.ts";
import { borrowedBy, failureOf, runProgram, type ProgramResult } from "./shell.ts";
import { planChanges, type OpenSandboxes } from "./step-runner.ts";
import type { Workspace } from "./workspace.ts";

/**
 * The repository's own `pre-commit` and `commit-msg` hooks, run where the plan worked before its result is validated, as `git commit`
 * would run them: what they rewrite is recorded like the changes of a step, and so is part of what is reviewed and applied. A hook
 * that fails stops the plan; tried again it runs again.
 */
export interface HookRun extends OpenSandboxes {
  readonly lease: Lease<"execute">;
  /** False: the hooks are skipped, and it is recorded that they were. */
  readonly verify: boolean;
  readonly signal: AbortSignal;
  readonly onHook: (hook: HookId, event: HookEvent, facts: { readonly durationMs: number }) => void;
}

export interface HookId {
  /** The alias of the resource. */
  readonly resource: string;
  readonly hook: HookName;
}

type HookEvent = "started" | "done" | "recorded" | "skipped" | "failed";

const TIMEOUT_MS = 600_000;
/** Behind every wave of steps. */
const LAST_WAVE: number = Number.MAX_SAFE_INTEGER;

export async function runHooks(run: HookRun): Promise<void> {
  for (const [index, [resource, workspace]] of [...run.workspaces].entries()) {
    if (workspace.sandbox.strategy !== "git_worktree") continue;
    if ((await changesOf(run, resource)).size === 0) continue;
    const { directory, programs } = await findHooks(workspace.sandbox.path);
    for (const [place, hook] of HOOK_NAMES.entries()) {
      const program = programs.get(hook);
      if (program === undefined) continue;
      const order = [LAST_WAVE, index * HOOK_NAMES.length + place] as const;
      await oneHook(run, { id: { resource, hook }, workspace, program, directory, order });
    }
  }
}

interface Hook {
  readonly id: HookId;
  readonly workspace: Workspace;
  readonly program: string;
  /** Where the hooks are. */
  readonly directory: string;
  readonly order: readonly [wave: number, position: number];
}

async function oneHook(run: HookRun, hook: Hook): Promise<void> {
  const started = performance.now();
  const tell = (event: HookEvent): void => run.onHook(hook.id, event, { durationMs: performance.now() - started });
  let ran = false;
  try {
    const record = await runStep(run.lease, hookKey(hook.id), async (): Promise<HookRecord> => {
      ran = true;
      if (!run.verify) return { order: hook.order, skipped: true };
      tell("started");
      return captured(run, hook);
    });
    tell(record.skipped === true ? "skipped" : ran ? "done" : "recorded");
  } catch (error) {
    tell("failed");
    throw error;
  }
}

type HookRecord = {
  readonly order: readonly [wave: number, position: number];
  readonly skipped?: true;
  readonly changeset?: ChangesetId;
  readonly output?: string;
  /** What `commit-msg` made of the proposed message. */
  readonly message?: string;
};

function hookKey({ resource, hook }: HookId): string {
  return `hook:${resource}:${hook}`;
}

/** The hooks of the plan's current attempt that ran to their end or were skipped. */
export async function recordedHooks(
  store: Store,
  plan: Pick<Plan, "id" | "attempt">,
): Promise<(HookId & { readonly skipped: boolean })[]> {
  const rows = await store.read((reader) =>
    reader.all<{ key: string; result: string }>(
      "SELECT key, result FROM steps WHERE plan_id = ? AND phase = 'execute' AND attempt = ? AND key LIKE 'hook:%'",
      plan.id,
      plan.attempt,
    ),
  );
  return rows
    .map(({ key, result }) => ({ words: key.split(":"), record: JSON.parse(result) as HookRecord }))
    .sort((a, b) => a.record.order[1] - b.record.order[1])
    .map(({ words: [, resource = "", hook = ""], record }) => ({
      resource,
      hook: hook as HookName,
      skipped: record.skipped === true,
    }));
}

async function captured(run: HookRun, hook: Hook): Promise<HookRecord> {
  const { workspace, id } = hook;
  const started = performance.now();
  const parameters = { resource: id.resource, hook: id.hook };
  const changeset = await run.context.startChangeset({ decision: await decide(run, id), tool: "hook", parameters });
  // What the last wave touched is free for the hook.
  workspace.beginWave();
  const finished = await run.context.run(changeset, async () => {
    const changes = await changesOf(run, id.resource);
    const first = await attempt(run, hook, changes);
    if (failureOf(first.result, TIMEOUT_MS) === undefined) return first;
    // Some formatters fail whenever they rewrote something. Git's user would commit again, with the rewritten files.
    const rewritten = await new ChangesetStore(run.lease.store).entries(changeset.id);
    if (rewritten.length === 0) return first;
    return attempt(run, hook, new Map([...changes, ...netChanges(rewritten)]));
  });
  const failure = failureOf(finished.result, TIMEOUT_MS);
  const durationMs = performance.now() - started;
  if (failure !== undefined) {
    await changeset.close({ outcome: "failed", durationMs, error: `It ${failure}.` });
    throw failed(run, hook, failure, finished.result);
  }
  const output = maskedText(printable(finished.result.output));
  await changeset.close({ outcome: "ok", durationMs, resultSize: Buffer.byteLength(output) });
  const { message } = finished;
  return { order: hook.order, changeset: changeset.id, output, ...(message === undefined ? {} : { message }) };
}

/** That the repository's hook has a say is a decision like any other; the one of an earlier try counts again. */
async function decide({ lease }: HookRun, id: HookId): Promise<DecisionId> {
  const { plan, phase } = lease;
  const step = hookKey(id);
  return lease.store.transaction(async (tx) => {
    await assertHeld(tx, lease);
    const decisions = await findDecisions(tx, plan.id, plan.attempt);
    const known = decisions.find((decision) => decision.step === step);
    if (known !== undefined) return known.id;
    return insertDecision(tx, monotonicIds(), {
      planId: plan.id,
      attempt: plan.attempt,
      type: "tool_invocation",
      phase,
      step,
      question: `What does the ${id.hook} hook of ${id.resource} make of it?`,
      chosen: { tool: "hook", params: { resource: id.resource, hook: id.hook } },
      parent: decisions.find((decision) => decision.parent === undefined)?.id,
      needs: [],
    });
  });
}

interface Attempt {
  readonly result: ProgramResult;
  readonly message: string | undefined;
}

async function attempt(run: HookRun, hook: Hook, changes: ReadonlyMap<string, NetChange>): Promise<Attempt> {
  const { workspace, id, program, directory } = hook;
  const { root, path } = workspace.sandbox;
  // Outside of the tree and of our own repository: the hook writes there, and nothing of it is read but the message.
  const repository = await mkdtemp(join(root, "..", "hook-"));
  const file = join(repository, "COMMIT_EDITMSG");
  try {
    await stageChanges(workspace.sandbox, changes, repository);
    await writeFile(file, commitMessage(run.lease.plan), { flag: "wx" });
    const environment = {
      ...(await identityOf(path)),
      GIT_DIR: repository,
      GIT_WORK_TREE: root,
      GIT_INDEX_FILE: join(repository, "index"),
      GIT_PREFIX: "",
      GIT_EDITOR: ":",
    };
    const args = id.hook === "commit-msg" ? [file] : [];
    const result = await workspace.capture(`hook:${id.hook}`, () =>
      runProgram([program, ...args], {
        root,
        cwd: root,
        timeoutMs: TIMEOUT_MS,
        signal: run.signal,
        keep: "end",
        network: workspace.network,
        requireConfinement: workspace.requireConfinement,
        environment,
        readable: [path, directory, ...borrowedBy(workspace.sandbox)],
        writable: [repository],
        commands: workspace.sandbox.commands,
      }),
    );
    run.signal.throwIfAborted();
    const wanted = id.hook === "commit-msg" && failureOf(result, TIMEOUT_MS) === undefined;
    return { result, message: wanted ? await messageIn(file, run, hook) : undefined };
  } finally {
    await removeTree(repository);
  }
}

/** What the hook left in the file, tidied as git does it. A link put there would show us another file, and a pipe would hold us. */
async function messageIn(file: string, run: HookRun, hook: Hook): Promise<string> {
  const complain = (why: string): AgentsError => failed(run, hook, `left a message that ${why}`, undefined);
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  if (handle === undefined) throw complain("cannot be read");
  await using opened = handle;
  const found = await opened.stat();
  if (!found.isFile() || found.size > TEXT_LIMIT) throw complain(`is no file of at most ${TEXT_LIMIT} bytes`);
  const { stdout } = await git(["stripspace"], { ...gitIn(hook.workspace.sandbox), input: await opened.readFile() });
  const message = stdout.toString("utf8");
  const problem = message.trim() === "" ? "is empty" : textProblem(message);
  if (problem !== undefined) throw complain(problem);
  return message;
}

async function changesOf({ lease }: HookRun, resource: string): Promise<ReadonlyMap<string, NetChange>> {
  const entries = await planChanges(lease.store, lease.planId, lease.plan.attempt);
  return netChanges(entries.filter((entry) => entry.resource === resource));
}

const LINES_SHOWN = 20;

function failed({ lease }: HookRun, hook: Hook, how: string, result: ProgramResult | undefined): AgentsError {
  const { resource, hook: name } = hook.id;
  const output = printable(result?.output ?? "").trimEnd();
  const shown = output.slice(-4000).split("\n").slice(-LINES_SHOWN).join("\n");
  const again = `agents plan execute ${lease.planId}`;
  return new AgentsError(
    "hook_failed",
    `The hook ${name} of "${resource}" ${how}${shown === "" ? "." : `:\n${shown}`}`,
    {
      kept: "The recorded steps are kept, and nothing of yours was changed.",
      next: [again, `${again} --no-verify`],
      detail: { resource, hook: name, program: hook.program, exit_code: result?.code ?? null, output },
    },
  );
}
