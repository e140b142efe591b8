import { join } from "node:path";
import { diffChanges } from "../../execution/plan-diff.ts";
import type { Sandbox } from "../../execution/sandbox.ts";
import { planChanges, type StepRun } from "../../execution/step-runner.ts";
import { ChangesetStore } from "../../ledger/changesets.ts";
import { PlanExecutor } from "../../plans/plan-executor.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { count } from "../format.ts";
import { info, type Message, type Outcome } from "../outcome.ts";
import { planData } from "./plan-data.ts";

/** Runs the plan's steps here, in the foreground; Ctrl-C stops cleanly, a second one at once. */
export async function planExecute(context: CommandContext, input: Input): Promise<Outcome> {
  const service = await context.plans();
  const store = await context.store();
  const seen = await service.getPlan(input.argument(0));
  const executor = new PlanExecutor({ store, service, directory: join(context.paths.dataDir, "sandboxes") });
  const steps: { id: string; tool: string; status: string; duration_ms: number }[] = [];
  const { signal, stop } = interruptible();
  const human = !["json", "yaml"].includes(await context.format());
  const onStep: StepRun["onStep"] = (step, event, { durationMs }) => {
    if (event !== "started")
      steps.push({ id: step.id, tool: step.tool, status: event, duration_ms: Math.round(durationMs) });
    if (human) process.stderr.write(progressLine(step.id, step.tool, event, durationMs));
  };
  const sandboxes: Sandbox[] = [];
  const onSandbox = (sandbox: Sandbox): void => void sandboxes.push(sandbox);
  const includeDirty = input.flag("includeDirty");
  const { plan, ran } = await executor.execute(seen.id, { signal, onStep, onSandbox, includeDirty }).finally(stop);
  const diff = await diffChanges(new ChangesetStore(store), await planChanges(store, plan.id, plan.attempt));
  const next = [`agents plan diff ${plan.id}`, `agents plan artifacts ${plan.id}`];
  const changes = { files: diff.files.length, insertions: diff.insertions, deletions: diff.deletions };
  return {
    data: { ...planData(plan), ran, sandboxes: sandboxes.map(sandboxData), steps, changes, next_steps: next },
    view: [],
    messages: [
      ...(includeDirty ? sandboxes.flatMap(begunOtherwise) : []),
      ...info(
        `Plan ${plan.id} ${ran ? "is executed" : "had been executed already"}: ${count(changes.files, "file")} changed (+${changes.insertions} −${changes.deletions}) in the sandbox.`,
      ),
    ],
    next,
  };
}

function sandboxData(sandbox: Sandbox): Record<string, unknown> {
  const { alias, strategy, root, ref, base, dirty, fresh } = sandbox;
  return {
    resource: alias,
    strategy,
    path: root,
    ref: ref ?? null,
    base: base ?? null,
    include_dirty: dirty,
    status: fresh ? "made" : "resumed",
  };
}

/** A plan that goes on does so from where it began, whatever is asked for now. */
function begunOtherwise({ alias, strategy, dirty }: Sandbox): Message[] {
  if (strategy !== "git_worktree" || dirty) return [];
  const text = `The sandbox of "${alias}" was made before, of what was committed, and --include-dirty does not change that.`;
  return [{ level: "warning", text }];
}

function progressLine(id: string, tool: string, event: string, durationMs: number): string {
  const took = event === "started" ? "" : ` (${Math.round(durationMs)} ms)`;
  return `${event.padEnd(8)} ${id}  ${tool}${took}\n`;
}

function interruptible(): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController();
  const onInterrupt = (): void => {
    if (controller.signal.aborted) process.exit(130);
    process.stderr.write("stopping cleanly; once more to stop at once\n");
    controller.abort();
  };
  process.on("SIGINT", onInterrupt);
  return { signal: controller.signal, stop: () => process.off("SIGINT", onInterrupt) };
}
