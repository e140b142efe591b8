import { mustBeApproved } from "../../domain/automation-profile.ts";
import { AwaitingInputError, UsageError } from "../../domain/errors.ts";
import type { Plan } from "../../domain/plan.ts";
import { decidedWaves } from "../../execution/decided-steps.ts";
import { diffOf } from "../../execution/kept-diff.ts";
import { planChanges } from "../../execution/step-runner.ts";
import { openQuestion } from "../../ledger/questions.ts";
import { shouldApply } from "../../plans/gates.ts";
import { setUpRun, uncommittedFiles } from "../../plans/run-setup.ts";
import type { CommandContext } from "../command-context.ts";
import { Input } from "../command-spec.ts";
import type { CommandsHere } from "../confinement-line.ts";
import { answerTo, canAsk, declined, type Asking } from "../confirm.ts";
import { count } from "../format.ts";
import { info, type Message, type Outcome } from "../outcome.ts";
import { print } from "../gate.ts";
import { render, screenFor } from "../render.ts";
import { oneLine } from "../terminal-text.ts";
import type { View } from "../view.ts";
import { planApply } from "./plan-apply.ts";
import { coloured, fileTable } from "./plan-diff.ts";
import { announced, executePlan } from "./plan-execute.ts";
import { givenBudget } from "./plan-budget.ts";
import { planPrompt } from "./plan-prompt.ts";
import { configuredProfile, defaultActors } from "./plan-use.ts";
import { runActor } from "./run-actor.ts";

/**
 * From a sentence to a change that can be taken out again: makes what is missing, makes the plan, carries it out in a sandbox, shows the
 * difference, and lands it after a yes. Whatever stops it, the plan stays and every command of plans goes on from there.
 */
export async function run(context: CommandContext, input: Input, asking?: Asking): Promise<Outcome> {
  const request = input.arguments(0).join(" ").trim();
  if (request === "") {
    throw new UsageError("What is to become true?", {
      kept: "Nothing was written.",
      next: ['agents run "make the health endpoint answer 200 when the database is down"'],
    });
  }
  const actor = await runActor(context, input.text("actor"));
  const budget = await givenBudget(context, input.text("budget"));
  const services = {
    plans: await context.plans(),
    projects: await context.projects(),
    resources: await context.resources(),
  };
  const wish = { directory: process.cwd(), project: input.text("project") };
  const { project, action, made } = await setUpRun(services, wish);
  const plan = await services.plans.useAction({
    action,
    projects: [project],
    arguments: { request },
    automationProfile: input.text("automationProfile"),
    configuredProfile: await configuredProfile(context, [project]),
    actors: { execution: actor, strategy: input.text("strategyActor") },
    defaultActors: await defaultActors(context),
    budget,
  });
  const human = !["json", "yaml"].includes(await context.format());
  const dirty = wish.project === undefined && !input.flag("includeDirty") ? await uncommittedFiles(wish.directory) : 0;
  const warnings: Message[] = dirty === 0 ? [] : [{ level: "warning", text: notCommitted(dirty) }];
  if (human) {
    process.stderr.write(beginning(plan, made));
    for (const { text } of warnings) process.stderr.write(`warning: ${text}\n`);
  }
  const commands = await announced(context, plan);
  const executed = await carryOut(context, { plan, commands }, input, asking);
  const setup: Message[] = human ? [] : [...made.flatMap((one) => info(`Made ${one}.`)), ...warnings];
  const outcome = { ...executed, messages: [...setup, ...executed.messages], data: { ...executed.data, made } };
  if (executed.data["phase"] !== "execute" || executed.status === "warn") return outcome;
  const yes = input.flag("yes") || (await mayLand(context, plan));
  if (!yes && !canAsk(asking)) return outcome;
  if (human && !yes) await showDifference(context, plan);
  const applied = await planApply(context, wordsOf(input, plan, { yes }), asking);
  return {
    ...applied,
    data: { ...outcome.data, ...applied.data },
    messages: [...outcome.messages, ...applied.messages],
    next: applied.next ?? executed.next ?? [],
  };
}

/** Up to where it is executed, or where a person is needed and there is none: shows and asks what the profile wants asked. */
async function carryOut(
  context: CommandContext,
  { plan, commands }: { readonly plan: Plan; readonly commands: CommandsHere },
  input: Input,
  asking?: Asking,
): Promise<Outcome> {
  const words = wordsOf(input, plan, { includeDirty: input.flag("includeDirty") });
  for (;;) {
    const outcome = await executePlan(context, words, commands).catch(async (error: unknown) => {
      if (!(error instanceof AwaitingInputError) || !canAsk(asking)) throw error;
      if (!(await answerQuestion(context, plan, asking))) throw error;
      return undefined;
    });
    if (outcome === undefined) continue;
    if (outcome.data["phase"] !== "strategize") return outcome;
    // The strategy is there, and the profile wants it looked at: going on is the yes.
    if (input.flag("yes")) continue;
    if (!canAsk(asking)) return outcome;
    await write(context, outcome.view);
    const answer = await answerTo("Carry this out? [y/N, or what should be different] ", asking);
    if (/^y(es)?$/i.test(answer)) continue;
    if (/^(no?)?$/i.test(answer)) {
      const { data, messages } = declined("executed");
      return { ...outcome, view: [], data: { ...outcome.data, ...data }, messages, status: "warn" };
    }
    await planPrompt(context, new Input([plan.id, [answer]], {}));
  }
}

/** A number stands for one of the ways; whatever else is said goes to the plan as it is. False when nothing is said. */
async function answerQuestion(context: CommandContext, { id }: Plan, asking?: Asking): Promise<boolean> {
  const open = await (await context.store()).read((reader) => openQuestion(reader, id));
  // Somebody else was faster.
  if (open === undefined) return true;
  const ways = open.alternatives.map((one, index) => `  ${index + 1}. ${oneLine(one)}\n`);
  process.stderr.write(`${open.question}\n${ways.join("")}`);
  const answer = await answerTo(ways.length === 0 ? "> " : "a number, or what to do instead > ", asking);
  const text = /^\d{1,3}$/.test(answer) ? (open.alternatives[Number(answer) - 1] ?? "") : answer;
  if (text !== "") await planPrompt(context, new Input([id, [text]], {}));
  return text !== "";
}

async function mayLand(context: CommandContext, { id, attempt }: Plan): Promise<boolean> {
  const plan = await (await context.plans()).getPlan(id);
  if (mustBeApproved(plan.profile)) return false;
  const store = await context.store();
  const steps = (await decidedWaves(store, id, attempt)).flat();
  const risks = steps.map((step) =>
    step.tool === undefined ? { risk: step.work.risk ?? undefined } : { tool: step.tool },
  );
  return (await shouldApply(store, plan, risks)).go;
}

function wordsOf(input: Input, plan: Plan, flags: Readonly<Record<string, boolean>>): Input {
  return new Input([plan.id], { ...flags, verify: input.flag("verify") });
}

function beginning({ id, projects }: Plan, made: readonly string[]): string {
  const new_ = made.length === 0 ? "" : ` (new: ${made.join(", ")})`;
  return `plan ${id} of ${projects[0]?.project}${new_}\n`;
}

function notCommitted(files: number): string {
  return `${count(files, "file")} here ${files === 1 ? "is" : "are"} not committed: the plan starts without that, and cannot land in the same files. --include-dirty starts from it.`;
}

const SHOWN_LINES = 200;

/** As `plan diff` shows it; of a long one the files only. */
async function showDifference(context: CommandContext, { id, attempt }: Plan): Promise<void> {
  const store = await context.store();
  const { patch, files } = await diffOf(store, await planChanges(store, id, attempt));
  if (patch.split("\n").length <= SHOWN_LINES) {
    print(process.stderr, await coloured(context, patch));
    return;
  }
  await write(context, [fileTable(files)]);
  process.stderr.write(`agents plan diff ${id} shows each line\n`);
}

async function write(context: CommandContext, view: View): Promise<void> {
  const format = await context.format();
  if (format === "json" || format === "yaml") return;
  const { stderr, env: environment } = process;
  const screen = screenFor(format, { isTTY: stderr.isTTY, columns: stderr.columns, environment });
  print(process.stderr, [render(view, screen), "\n"]);
}
