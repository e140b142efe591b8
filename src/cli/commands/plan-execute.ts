import { recordedHooks } from "../../execution/hooks.ts";
import { diffOf } from "../../execution/kept-diff.ts";
import type { Sandbox } from "../../execution/sandbox.ts";
import { planChanges } from "../../execution/step-runner.ts";
import type { Plan } from "../../domain/plan.ts";
import { statusKey } from "../../domain/transitions.ts";
import type { Assessment } from "../../domain/confidence.ts";
import { findDecisions } from "../../ledger/decisions.ts";
import type { CommandContext } from "../command-context.ts";
import { Input } from "../command-spec.ts";
import { count } from "../format.ts";
import { info, type Message, type Outcome } from "../outcome.ts";
import { commandsHere, confinementLine, loudMessages, type CommandsHere } from "../confinement-line.ts";
import { executeWatched } from "../watched-execution.ts";
import { leftOutOf } from "./left-out.ts";
import { paidText, readSpending, spendingData } from "./budget-data.ts";
import { lateEdits } from "./plan-apply.ts";
import { planData, readInPlace } from "./plan-data.ts";
import { strategyView } from "./strategy-view.ts";
import { readValidations, resultData, resultView, summaryData } from "./validation-data.ts";

/** Says what holds for commands, and runs the plan. */
export async function planExecute(context: CommandContext, input: Input): Promise<Outcome> {
  const plan = await (await context.plans()).getPlan(input.argument(0));
  return executePlan(context, input, await announced(context, plan));
}

/** Tells the person who watches what confines the plan's commands, before anything runs; in place no command runs. */
export async function announced(context: CommandContext, plan: Plan): Promise<CommandsHere> {
  const commands = await commandsHere(plan.profile);
  const { where } = await readInPlace(context, plan);
  const done = plan.phase === "apply" || statusKey(plan) === "execute/complete";
  const human = !["json", "yaml"].includes(await context.format());
  if (human && !done && where === "") process.stderr.write(confinementLine(commands));
  return commands;
}

/** Runs the plan's steps here, in the foreground; Ctrl-C stops cleanly, a second one at once. */
export async function executePlan(context: CommandContext, input: Input, commands: CommandsHere): Promise<Outcome> {
  const service = await context.plans();
  const store = await context.store();
  const seen = await service.getPlan(input.argument(0));
  const includeDirty = input.flag("includeDirty");
  const options = { includeDirty, verify: input.flag("verify") };
  const { plan, ran, stopped, steps, sandboxes, kept } = await executeWatched(context, seen.id, options);
  if (stopped !== undefined) return strategyShown(context, plan, stopped);
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
  const spending = await readSpending(context, plan.id);
  const paid = spending.plan.calls === 0 ? "" : ` ${paidText(spending.plan)}.`;
  // People heard it before anything ran.
  const machine = ["json", "yaml"].includes(await context.format());
  const done = info(
    `Plan ${plan.id} ${ran ? "is executed" : "had been executed already"}: ${count(changes.files, "file")} changed (+${changes.insertions} −${changes.deletions}) ${inPlace.where === "" ? sandboxed(commands) : `in place, in ${inPlace.where}`}.${paid}`,
  );
  return {
    data: {
      ...planData(plan),
      ...inPlace.data,
      ran,
      confinement: commands.data,
      sandboxes: sandboxes.map(sandboxData),
      steps,
      hooks,
      changes,
      kept_files: kept,
      cost: spendingData(spending.plan),
      ...left.data,
      validations: results.map(resultData),
      validation_summary: summaryData(validated),
      next_steps: next,
    },
    view: resultView(results),
    messages: [
      ...(machine && ran && inPlace.where === "" ? loudMessages(commands) : []),
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

/** What was planned, for the person whose `plan execute` is the yes to it. */
async function strategyShown(context: CommandContext, plan: Plan, assessment: Assessment): Promise<Outcome> {
  const decisions = await (await context.store()).read((reader) => findDecisions(reader, plan.id, plan.attempt));
  const { planTree } = await import("./plan-tree.ts");
  const { data } = await planTree(context, new Input([plan.id], {}));
  const next = [`agents plan execute ${plan.id}`, `agents plan prompt ${plan.id} "<guidance>"`];
  return {
    data: {
      ...planData(plan),
      ran: false,
      strategy: data["tree"],
      assessment: { confidence: assessment.confidence, factors: assessment.factors },
      next_steps: next,
    },
    view: [strategyView(decisions)],
    messages: info(
      `This is what plan ${plan.id} would do. The profile ${plan.profile.name} asks first; nothing was changed. ${assessment.explanation}`,
    ),
    next,
  };
}

/** Said only where nothing else could have been changed. */
function sandboxed({ enforced }: CommandsHere): string {
  return enforced ? "in the sandbox" : "in the plan's copy; its commands were not confined to it";
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
