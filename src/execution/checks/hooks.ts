/**
 * The repository's own `pre-commit` and `commit-msg` hooks, run where the plan worked before its result is validated,
 * as `git commit` would run them. Their changes are recorded like those of a step, and so are reviewed and applied
 * with them. A hook that fails stops the plan; the next execute runs it again.
 */
import type { HookEvent, Tell } from "../../domain/run-event.ts";
import { constants } from "node:fs";
import { mkdtemp, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentsError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { monotonicIds, type ChangesetId, type DecisionId } from "../../domain/names/ids.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { printable, TEXT_LIMIT, textProblem } from "../../domain/text/text.ts";
import { ChangesetStore } from "../../ledger/changesets.ts";
import { findDecisions, insertDecision } from "../../ledger/decisions.ts";
import { assertHeld, type Lease } from "../../ledger/leases.ts";
import { stepKey, type StepKey } from "../../ledger/records.ts";
import { findStepsOfKind, runStep } from "../../ledger/steps.ts";
import { comparedOrder, nextWave } from "../../changes/step-records.ts";
import { maskedText } from "../../platform/masking.ts";
import type { Store } from "../../store/port.ts";
import { commitMessage } from "../../changes/commit-message.ts";
import { planAnswer } from "../../changes/plan-answer.ts";
import { git } from "../../git/git.ts";
import { findHooks, HOOK_NAMES, identityOf, stageChanges, type HookName } from "./hook-files.ts";
import { netChanges, type NetChange } from "../../changes/net-changes.ts";
import { removeTree } from "../../platform/remove-tree.ts";
import { gitIn } from "../sandbox/sandbox-facts.ts";
import { lastLines } from "../tools/cut-text.ts";
import { borrowedBy, failureOf, runProgram, type ProgramResult } from "../tools/shell.ts";
import { isResolveStep, isReviewStep, planChanges } from "../../changes/plan-changes.ts";
import type { OpenSandboxes } from "../steps/step-runner.ts";
import type { Workspace } from "../workspace/workspace.ts";

export interface HookRun extends OpenSandboxes {
  readonly lease: Lease<"execute">;
  /** False: the hooks are skipped, and it is recorded that they were. */
  readonly verify: boolean;
  readonly signal: AbortSignal;
  readonly tell: Tell;
  /** 0 for the first time; what is mended after a failing check is looked at by the hooks again. */
  readonly round: number;
}

export interface HookId {
  /** The alias of the resource. */
  readonly resource: string;
  readonly hook: HookName;
  readonly round: number;
}

const TIMEOUT_MS = 600_000;
export async function runHooks(run: HookRun): Promise<void> {
  const { lease, round } = run;
  const wave = await lease.store.read((reader) => nextWave(reader, lease.plan));
  for (const [index, [resource, workspace]] of [...run.workspaces].entries()) {
    if (workspace.sandbox.strategy !== "git_worktree") continue;
    if ((await changesOf(run, resource)).size === 0) continue;
    const { directory, programs } = await findHooks(workspace.sandbox.path);
    for (const [place, hook] of HOOK_NAMES.entries()) {
      const program = programs.get(hook);
      if (program === undefined) continue;
      const order = [wave, index * HOOK_NAMES.length + place] as const;
      await oneHook(run, { id: { resource, hook, round }, workspace, program, directory, order });
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
  const tell = (event: HookEvent["event"]): void =>
    run.tell({
      type: "hook",
      resource: hook.id.resource,
      hook: hook.id.hook,
      event,
      durationMs: performance.now() - started,
    });
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
  /** The message as `commit-msg` changed it. */
  readonly message?: string;
};

function hookKey({ resource, hook, round }: HookId): StepKey {
  return stepKey("hook", round === 0 ? `${resource}:${hook}` : `${resource}:${hook}:${round}`);
}

/** The hooks of the plan's current attempt that ran to their end or were skipped. */
export async function recordedHooks(
  store: Store,
  plan: Pick<Plan, "id" | "attempt">,
): Promise<(HookId & { readonly skipped: boolean })[]> {
  const records = await store.read((reader) => findStepsOfKind(reader, plan, "hook"));
  return records
    .filter(({ key }) => !isReviewStep(key) && !isResolveStep(key))
    .sort((a, b) => comparedOrder(a.order, b.order))
    .map(({ id, skipped }) => {
      const [resource = "", hook = "", round = "0"] = id.split(":");
      return { resource, hook: hook as HookName, round: Number(round), skipped: skipped === true };
    });
}

async function captured(run: HookRun, hook: Hook): Promise<HookRecord> {
  const { workspace, id } = hook;
  const started = performance.now();
  const params = { resource: id.resource, hook: id.hook };
  const changeset = await run.context.startChangeset({ decision: await decide(run, id), tool: "hook", params });
  // The hook may change the paths that the last wave changed.
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
    throw hookFailedError(run, hook, failure, finished.result);
  }
  const output = maskedText(printable(finished.result.output));
  await changeset.close({ outcome: "ok", durationMs, resultSize: Buffer.byteLength(output) });
  const { message } = finished;
  return { order: hook.order, changeset: changeset.id, output, ...(message === undefined ? {} : { message }) };
}

/** That the repository's hook has a say is a decision like any other; the one of an earlier try counts again. */
async function decide({ lease }: HookRun, id: HookId): Promise<DecisionId> {
  const { plan, phase } = lease;
  const { key: step } = hookKey(id);
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
    const { store, plan } = run.lease;
    await writeFile(file, commitMessage(plan, await planAnswer(store, plan)), { flag: "wx" });
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
        network: workspace.network,
        requireConfinement: workspace.requireConfinement,
        environment,
        readable: [path, directory, ...borrowedBy(workspace.sandbox)],
        writable: [repository],
        carried: workspace.sandbox.carried,
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

/**
 * The message that the hook left in the file, tidied as git does it. A link in its place would show us another file,
 * and a pipe would make us wait.
 */
async function messageIn(file: string, run: HookRun, hook: Hook): Promise<string> {
  const messageError = (why: string): AgentsError =>
    hookFailedError(run, hook, `left a message that ${why}`, undefined);
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  if (handle === undefined) throw messageError("cannot be read");
  await using opened = handle;
  const found = await opened.stat();
  if (!found.isFile() || found.size > TEXT_LIMIT) throw messageError(`is not a file of at most ${TEXT_LIMIT} bytes`);
  const { stdout } = await git(["stripspace"], { ...gitIn(hook.workspace.sandbox), input: await opened.readFile() });
  const message = stdout.toString("utf8");
  const problem = message.trim() === "" ? "is empty" : textProblem(message);
  if (problem !== undefined) throw messageError(problem);
  return message;
}

async function changesOf({ lease }: HookRun, resource: string): Promise<ReadonlyMap<string, NetChange>> {
  const entries = await planChanges(lease.store, lease.planId, lease.plan.attempt);
  return netChanges(entries.filter((entry) => entry.resource === resource));
}

function hookFailedError({ lease }: HookRun, hook: Hook, how: string, result: ProgramResult | undefined): AgentsError {
  const { resource, hook: name } = hook.id;
  const output = printable(result?.output ?? "").trimEnd();
  const shown = lastLines(output);
  return new AgentsError(
    "hook_failed",
    `The hook ${name} of "${resource}" ${how}${shown === "" ? "." : `:\n${shown}`}`,
    {
      kept: "The recorded steps are kept, and nothing of yours was changed.",
      next: [
        nextStep("plan.execute", { plan: lease.planId }),
        nextStep("plan.execute", { plan: lease.planId, verify: false }),
      ],
      detail: { resource, hook: name, program: hook.program, exit_code: result?.code ?? null, output },
    },
  );
}
