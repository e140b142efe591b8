import { resolve } from "node:path";
import type { PlanContextSummary } from "../../plans/plan-context-service.ts";
import { count } from "../format.ts";
import { ACTOR_ROLES, type ActorRole } from "../../domain/action.ts";
import { defaultActorKey } from "../../domain/actor-settings.ts";
import { UsageError } from "../../domain/errors.ts";
import { dollars } from "../../domain/money.ts";
import type { Plan } from "../../domain/plan.ts";
import { parseQualifiedName } from "../../domain/qualified-name.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { info, type Message, type Outcome } from "../outcome.ts";
import { givenBudget } from "./plan-budget.ts";
import { planData, readInPlace } from "./plan-data.ts";

export async function planUse(context: CommandContext, input: Input): Promise<Outcome> {
  const projects = input.arguments(1);
  const overrides: Partial<Record<ActorRole, string | undefined>> = {};
  for (const role of ACTOR_ROLES) overrides[role] = input.text(`${role}Actor`);
  const contextStages = givenStages(input.texts("stage"));
  await requireStages(context, projects[0], contextStages);
  const budget = await givenBudget(context, input.text("budget"));
  const plan = await (
    await context.plans()
  ).useAction({
    action: input.argument(0),
    projects,
    arguments: givenArguments(input.texts("arg")),
    automationProfile: input.text("automationProfile"),
    configuredProfile: await configuredProfile(context, projects),
    actors: overrides,
    defaultActors: await defaultActors(context),
    contextStages,
    budget,
  });
  const held = await heldBack(context, plan);
  const inPlace = await readInPlace(context, plan);
  const summary = await (await context.planContext()).summaryOf(plan);
  const next = [`agents plan execute ${plan.id}`, `agents plan status ${plan.id}`];
  return {
    data: {
      ...planData(plan),
      ...inPlace.data,
      context: {
        resources: summary.resources,
        indexed_files: summary.indexedFiles ?? null,
        view: summary.view,
        budget: summary.budget,
      },
      budget_usd: budget === undefined ? null : budget / 1_000_000,
      next_steps: next,
    },
    view: [
      {
        kind: "fields",
        title: `Plan ${plan.id}`,
        rows: [
          ["does", plan.description],
          ["done when", plan.definitionOfDone.trimEnd()],
          ["projects", plan.projects.map((link) => link.project).join(", ")],
          ["profile", `${plan.profile.name} (${plan.profileSource}): ${plan.profile.description}`],
          ...inPlace.rows,
          ["context", contextText(summary)],
          ...(budget === undefined ? [] : [["budget", `${dollars(budget)} for its models`] as const]),
          ["now", `${plan.phase}/${plan.state}`],
        ],
      },
    ],
    messages: [...info(`Plan ${plan.id} created.`), ...held],
    ...(held.length === 0 ? {} : { status: "warn" as const }),
    next,
  };
}

/** Says so when the action's profile goes further than the plan does: only the flag of the user lets it. */
async function heldBack(context: CommandContext, plan: Plan): Promise<Message[]> {
  const { automationProfile: name } = await (await context.plans()).getAction(plan.action);
  if (name === undefined || plan.profileSource === "plan") return [];
  const { requireProfile } = await import("../../store/profiles.ts");
  const { looserFields } = await import("../../domain/tighter-profile.ts");
  const wanted = await (await context.store()).read((reader) => requireProfile(reader, name));
  const fields = looserFields(wanted, plan.profile);
  if (fields.length === 0) return [];
  const some = `${fields.slice(0, 4).join(", ")}${fields.length > 4 ? ` and ${fields.length - 4} more` : ""}`;
  const text = `The action's automation profile ${name} goes further than yours (${some}), so yours holds there. --automation-profile ${name} lets the plan go that far.`;
  return [{ level: "warning", text }];
}

export async function defaultActors(context: CommandContext): Promise<Partial<Record<ActorRole, string | undefined>>> {
  const defaults: Partial<Record<ActorRole, string | undefined>> = {};
  for (const role of ACTOR_ROLES) defaults[role] = (await context.setting(defaultActorKey(role))).value;
  return defaults;
}

/** `name=value` words; a name given twice collects a list. */
function givenArguments(words: readonly string[]): Record<string, unknown> {
  const given = new Map<string, string | string[]>();
  for (const word of words) {
    const equals = word.indexOf("=");
    if (equals < 1) {
      throw new UsageError(`"${word}" is not an argument: write --arg name=value.`, { kept: "Nothing was written." });
    }
    const name = word.slice(0, equals);
    const value = word.slice(equals + 1);
    const before = given.get(name);
    given.set(name, before === undefined ? value : [...(typeof before === "string" ? [before] : before), value]);
  }
  return Object.fromEntries(given);
}

/** `stage=module` words; a path is meant from where the user is. */
function givenStages(words: readonly string[]): Record<string, string> {
  const given: Record<string, string> = {};
  for (const word of words) {
    const equals = word.indexOf("=");
    const stage = word.slice(0, equals);
    if (equals < 1 || equals === word.length - 1 || Object.hasOwn(given, stage)) {
      const why =
        equals > 0 && Object.hasOwn(given, stage)
          ? "names a stage twice"
          : "is not a stage: write --stage pack=module.mjs";
      throw new UsageError(`"${word}" ${why}.`, { kept: "Nothing was written." });
    }
    given[stage] = resolve(word.slice(equals + 1));
  }
  return given;
}

/** A module that could not be used later is refused now, before there is a plan. */
async function requireStages(
  context: CommandContext,
  project: string | undefined,
  stages: Readonly<Record<string, string>>,
): Promise<void> {
  if (Object.keys(stages).length === 0) return;
  const { loadStages } = await import("../../context/strategy-registry.ts");
  const { planStages } = await import("../../plans/plan-stages.ts");
  const { trusted } = await context.contextConfiguration(project);
  await loadStages(Object.fromEntries(planStages(stages)), trusted);
}

function contextText({ resources, indexedFiles, view, budget }: PlanContextSummary): string {
  const files = indexedFiles === undefined ? "not indexed yet" : `${count(indexedFiles, "file")} indexed`;
  return `${resources.join(", ") || "no resource"}; ${files}; view ${view}, ${budget} tokens`;
}

/** The first named project that has a value of its own decides; several that disagree are for the user to settle. */
export async function configuredProfile(
  context: CommandContext,
  projects: readonly string[],
): Promise<{ name: string; source: "project" | "global" } | undefined> {
  const found = new Set<string>();
  for (const project of projects) {
    const name = parseQualifiedName(project, "project");
    // What a project says of itself is stronger than the environment here, though not for other settings.
    const { chain } = await context.setting("core.automation-profile", { project: name });
    const own = chain.find(({ level }) => level === "project");
    if (own !== undefined) found.add(own.value);
  }
  if (found.size > 1) {
    throw new UsageError(`The projects want different automation profiles: ${[...found].join(", ")}.`, {
      kept: "Nothing was written.",
      next: ["name one with --automation-profile"],
    });
  }
  const [own] = found;
  if (own !== undefined) return { name: own, source: "project" };
  const { value } = await context.setting("core.automation-profile");
  return value === undefined ? undefined : { name: value, source: "global" };
}
