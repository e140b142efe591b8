import { ACTOR_ROLES, type ActorRole } from "../../domain/action.ts";
import { UsageError } from "../../domain/errors.ts";
import { parseQualifiedName } from "../../domain/qualified-name.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { info, type Outcome } from "../outcome.ts";
import { planData, readInPlace } from "./plan-data.ts";

export async function planUse(context: CommandContext, input: Input): Promise<Outcome> {
  const projects = input.arguments(1);
  const overrides: Partial<Record<ActorRole, string | undefined>> = {};
  for (const role of ACTOR_ROLES) overrides[role] = input.text(`${role}Actor`);
  const plan = await (
    await context.plans()
  ).useAction({
    action: input.argument(0),
    projects,
    arguments: givenArguments(input.texts("arg")),
    automationProfile: input.text("automationProfile"),
    configuredProfile: await configuredProfile(context, projects),
    actors: overrides,
  });
  const inPlace = await readInPlace(context, plan);
  const next = [`agents plan execute ${plan.id}`, `agents plan status ${plan.id}`];
  return {
    data: {
      ...planData(plan),
      ...inPlace.data,
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
          ["now", `${plan.phase}/${plan.state}`],
        ],
      },
    ],
    messages: info(`Plan ${plan.id} created.`),
    next,
  };
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

/** The first named project that has a value of its own decides; several that disagree are for the user to settle. */
async function configuredProfile(
  context: CommandContext,
  projects: readonly string[],
): Promise<{ name: string; source: "project" | "global" } | undefined> {
  const found = new Set<string>();
  for (const project of projects) {
    const name = parseQualifiedName(project, "project");
    const { value, level } = await context.setting("core.automation-profile", { project: name });
    if (level === "project" && value !== undefined) found.add(value);
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
