import { join } from "node:path";
import { recordedHooks, type HookRun } from "../../execution/hooks.ts";
import { diffOf } from "../../execution/kept-diff.ts";
import type { Sandbox } from "../../execution/sandbox.ts";
import { planChanges, type StepRun } from "../../execution/step-runner.ts";
import { PlanExecutor, type ExecuteOptions } from "../../plans/plan-executor.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import type { RunEvent } from "../../plans/run-events.ts";
import { count, dollars } from "../format.ts";
import { interruptible } from "../interrupt.ts";
import { info, type Message, type Outcome } from "../outcome.ts";
import { leftOutOf } from "./left-out.ts";
import { lateEdits } from "./plan-apply.ts";
import { planData, readInPlace } from "./plan-data.ts";
import { readValidations, resultData, resultView, summaryData } from "./validation-data.ts";

/** Runs the plan's steps here, in the foreground; Ctrl-C stops cleanly, a second one at once. */
export async function planExecute(context: CommandContext, input: Input): Promise<Outcome> {
  const service = await context.plans();
  const store = await context.store();
  const seen = await service.getPlan(input.argument(0));
  const executor = new PlanExecutor({
    store,
    service,
    directory: join(context.paths.dataDir, "sandboxes"),
    context: await context.planContext(),
    models: () => context.models(),
  });
  const steps: { id: string; tool: string | null; status: string; duration_ms: number }[] = [];
  const { signal, stop } = interruptible();
  const human = !["json", "yaml"].includes(await context.format());
  const onStep: StepRun["onStep"] = (step, event, { durationMs }) => {
    if (event !== "started")
      steps.push({ id: step.id, tool: step.tool ?? null, status: event, duration_ms: Math.round(durationMs) });
    if (human)
      process.stderr.write(progressLine(step.id, step.tool ?? shortened(step.work.description), event, durationMs));
  };
  const onHook: HookRun["onHook"] = ({ resource, hook }, event, { durationMs }) => {
    if (human) process.stderr.write(progressLine(hook, resource, event, durationMs));
  };
  const onValidationStart: ExecuteOptions["onValidationStart"] = ({ validation, resource }) => {
    if (human) process.stderr.write(progressLine(validation.name, resource, "started", 0));
  };
  const onValidation: ExecuteOptions["onValidation"] = ({ validation, resource, passed, durationMs }) => {
    if (human) process.stderr.write(progressLine(validation, resource, passed ? "passed" : "failed", durationMs));
  };
  const onEvent = (event: RunEvent): void => {
    const line = human ? eventLine(event) : undefined;
    if (line !== undefined) process.stderr.write(line);
  };
  const sandboxes: Sandbox[] = [];
  const onSandbox = (sandbox: Sandbox): void => void sandboxes.push(sandbox);
  const kept: string[] = [];
  const onKept = (files: readonly string[]): void => void kept.push(...files);
  const includeDirty = input.flag("includeDirty");
  const options = {
    signal,
    onStep,
    onEvent,
    onSandbox,
    onKept,
    includeDirty,
    onHook,
    onValidationStart,
    onValidation,
    verify: input.flag("verify"),
  };
  const { plan, ran } = await executor.execute(seen.id, options).finally(stop);
  const entries = await planChanges(store, plan.id, plan.attempt);
  const diff = await diffOf(store, entries);
  const left = await leftOutOf(context, plan, entries);
  const changes = { files: diff.files.length, insertions: diff.insertions, deletions: diff.deletions };
  const validated = await readValidations(store, plan);
  const { latest, gate } = validated;
  const results = latest?.results ?? [];
  const next = [`agents plan diff ${plan.id}`, `agents plan ${gate.ok ? "apply" : "revert"} ${plan.id}`];
  const hooks = (await recordedHooks(store, plan)).map(({ resource, hook, skipped }) => ({ resource, hook, skipped }));
  const inPlace = await readInPlace(context, plan);
  const done = info(
    `Plan ${plan.id} ${ran ? "is executed" : "had been executed already"}: ${count(changes.files, "file")} changed (+${changes.insertions} −${changes.deletions}) ${inPlace.where === "" ? "in the sandbox" : `in place, in ${inPlace.where}`}.`,
  );
  return {
    data: {
      ...planData(plan),
      ...inPlace.data,
      ran,
      sandboxes: sandboxes.map(sandboxData),
      steps,
      hooks,
      changes,
      kept_files: kept,
      ...left.data,
      validations: results.map(resultData),
      validation_summary: summaryData(validated),
      next_steps: next,
    },
    view: resultView(results),
    messages: [
      ...(includeDirty ? sandboxes.flatMap(begunOtherwise) : []),
      ...done,
      ...left.messages,
      ...lateEdits(kept),
      ...(gate.ok ? [] : [{ level: "warning", text: `${gate.why} The plan cannot be applied like this.` } as const]),
    ],
    next,
    status: gate.ok ? "ok" : "warn",
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
    status: strategy === "none" ? "in place" : fresh ? "made" : "resumed",
  };
}

/** A plan that goes on does so from where it began, whatever is asked for now. */
function begunOtherwise({ alias, strategy, dirty }: Sandbox): Message[] {
  if (strategy !== "git_worktree" || dirty) return [];
  const text = `The sandbox of "${alias}" was made before, of what was committed, and --include-dirty does not change that.`;
  return [{ level: "warning", text }];
}

/** Of what models do: whom they were asked, what it cost, which tools they called. */
function eventLine(event: RunEvent): string | undefined {
  if (event.type === "tool_ended")
    return progressLine(event.step, event.tool, event.error === undefined ? "called" : "failed", event.durationMs);
  if (event.type !== "ask_answered") return undefined;
  const { step, model, inputTokens, outputTokens, cost, durationMs } = event;
  const price = cost === undefined ? "" : `, ${dollars(cost)}`;
  const used = `${inputTokens} tokens in, ${outputTokens} out${price}`;
  return progressLine(step, `${model.provider}/${model.model}  ${used}`, "asked", durationMs);
}

function shortened(description: string): string {
  const line = description.split("\n", 1)[0] ?? "";
  return line.length > 50 ? `${line.slice(0, 49).toWellFormed()}…` : line;
}

function progressLine(id: string, tool: string, event: string, durationMs: number): string {
  const took = event === "started" ? "" : ` (${Math.round(durationMs)} ms)`;
  return `${event.padEnd(8)} ${id}  ${tool}${took}\n`;
}
