import { UsageError } from "../../domain/errors.ts";
import type { Plan } from "../../domain/plan.ts";
import { diffOf } from "../../execution/kept-diff.ts";
import { planChanges } from "../../execution/step-runner.ts";
import { setUpRun } from "../../plans/run-setup.ts";
import type { CommandContext } from "../command-context.ts";
import { Input } from "../command-spec.ts";
import { canAsk } from "../confirm.ts";
import { info, type Message, type Outcome } from "../outcome.ts";
import { planApply } from "./plan-apply.ts";
import { coloured, fileTable } from "./plan-diff.ts";
import { planExecute } from "./plan-execute.ts";
import { givenBudget } from "./plan-budget.ts";
import { configuredProfile, defaultActors } from "./plan-use.ts";
import { runActor } from "./run-actor.ts";

/**
 * From a sentence to a change that can be taken out again: makes what is missing, makes the plan, carries it out in a sandbox, shows the
 * difference, and lands it after a yes. Whatever stops it, the plan stays and every command of plans goes on from there.
 */
export async function run(context: CommandContext, input: Input): Promise<Outcome> {
  const request = input.arguments(0).join(" ").trim();
  if (request === "") {
    throw new UsageError("What is to become true?", {
      kept: "Nothing was written.",
      next: ['agents run "make the health endpoint answer 200 when the database is down"'],
    });
  }
  const actor = await runActor(context, input.text("actor"));
  const services = {
    plans: await context.plans(),
    projects: await context.projects(),
    resources: await context.resources(),
  };
  const wish = { directory: process.cwd(), project: input.text("project"), actor };
  const { project, action, made } = await setUpRun(services, wish);
  const plan = await services.plans.useAction({
    action,
    projects: [project],
    arguments: { request },
    automationProfile: input.text("automationProfile"),
    configuredProfile: await configuredProfile(context, [project]),
    actors: { execution: actor, strategy: input.text("strategyActor") },
    defaultActors: await defaultActors(context),
    budget: await givenBudget(context, input.text("budget")),
  });
  const human = !["json", "yaml"].includes(await context.format());
  if (human) process.stderr.write(beginning(plan, made));
  const yes = input.flag("yes");
  const executed = await planExecute(context, wordsOf(input, plan, { includeDirty: input.flag("includeDirty") }));
  const setup: Message[] = human ? [] : made.flatMap((one) => info(`Made ${one}.`));
  const outcome = { ...executed, messages: [...setup, ...executed.messages], data: { ...executed.data, made } };
  if (executed.status === "warn" || executed.status === "error") return outcome;
  if (!yes && !canAsk()) return outcome;
  if (human && !yes) await showDifference(context, plan);
  const applied = await planApply(context, wordsOf(input, plan, { yes }));
  return {
    ...applied,
    data: { ...outcome.data, ...applied.data },
    messages: [...outcome.messages, ...applied.messages],
    next: applied.next ?? executed.next ?? [],
  };
}

function wordsOf(input: Input, plan: Plan, flags: Readonly<Record<string, boolean>>): Input {
  return new Input([plan.id], { ...flags, verify: input.flag("verify") });
}

function beginning({ id, projects }: Plan, made: readonly string[]): string {
  const new_ = made.length === 0 ? "" : ` (new: ${made.join(", ")})`;
  return `plan ${id} of ${projects[0]?.project}${new_}\n`;
}

const SHOWN_LINES = 200;

/** As `plan diff` shows it; of a long one the files only. */
async function showDifference(context: CommandContext, { id, attempt }: Plan): Promise<void> {
  const store = await context.store();
  const { patch, files } = await diffOf(store, await planChanges(store, id, attempt));
  if (patch.split("\n").length <= SHOWN_LINES) {
    process.stderr.write(await coloured(context, patch));
    return;
  }
  const { render, screenFor } = await import("../render.ts");
  const format = await context.format();
  if (format === "json" || format === "yaml") return;
  const { stderr, env: environment } = process;
  const screen = screenFor(format, { isTTY: stderr.isTTY, columns: stderr.columns, environment });
  process.stderr.write(`${render([fileTable(files)], screen)}\nagents plan diff ${id} shows each line\n`);
}
