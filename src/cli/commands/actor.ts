import { ACTOR_ROLES, type ActorRole } from "../../domain/actor-roles.ts";
import { defaultActorKey } from "../../domain/actor-settings.ts";
import type { LlmActorDefinition } from "../../domain/actor.ts";
import { UsageError, ValidationError } from "../../domain/errors.ts";
import { findSetting } from "../../domain/settings.ts";
import { suggested } from "../../domain/schema.ts";
import { shown } from "../../domain/text.ts";
import type { ToolName } from "../../domain/tool-names.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { confirmed, declined, type Asking } from "../confirm.ts";
import { readDefinition } from "../definition-file.ts";
import { count, orDash } from "../format.ts";
import { info, type Message, type Outcome } from "../outcome.ts";
import { accessData, actorData, partsData, stepData } from "./actor-data.ts";
import { actorView } from "./actor-view.ts";
import { storeSetting } from "./config.ts";

export async function actorAdd(context: CommandContext, input: Input, asking?: Asking): Promise<Outcome> {
  const source = readDefinition(input, { question: "Which actor?", command: "agents actor add" });
  const { readActorFile } = await import("../../plans/actor-file.ts");
  const { actorWants, quotingProblems } = await import("../../domain/actor-wants.ts");
  const { accepted } = await import("../foreign-file.ts");
  const endpoints = await configuredEndpoints(context);
  const { text, file } = source;
  const { definitions, variables } = readActorFile(text, file, context.environment, [...endpoints.values()]);
  const wants = actorWants(definitions, variables, (name) => endpoints.get(name) ?? `the provider ${name}`);
  if (!(await accepted(context.paths.dataDir, input, { ...source, wants }, asking))) return declined("added");
  const added = await (await context.actors()).addActors(definitions);
  const [first] = added;
  if (first === undefined) throw new Error("The file has no actor.");
  return {
    data: {
      actor_added: actorData(first),
      actors_added: added.map(({ name }) => name),
      wants,
      ...(first.type === "tool" ? { steps: stepData(first) } : partsData(first)),
    },
    view: added.flatMap((actor) => actorView(actor, [])),
    messages: [
      ...added.map(({ name }) => ({ level: "info" as const, text: `Actor ${name} added.` })),
      ...definitions.flatMap(quotingProblems).map((text) => ({ level: "warning" as const, text })),
    ],
    next: [`agents actor show ${first.name}`, "agents action create --config <file>"],
  };
}

/** By the name of the provider. */
async function configuredEndpoints(context: CommandContext): Promise<ReadonlyMap<string, string>> {
  const { configuredProviders } = await import("../../actors/providers.ts");
  const providers = configuredProviders((await context.config()).global, context.environment);
  return new Map(providers.flatMap(({ name, baseUrl }) => (baseUrl === undefined ? [] : [[name, baseUrl] as const])));
}

export async function actorList(context: CommandContext, input: Input): Promise<Outcome> {
  const namespace = input.text("namespace");
  const actors = await (await context.actors()).listActors(namespace);
  const models = await offeredModels(context, namespace);
  const defaults = await defaultActors(context);
  const total = models.length + actors.length;
  const rolesOf = (name: string): ActorRole[] =>
    ACTOR_ROLES.filter((role) => defaults[role]?.toLowerCase() === name.toLowerCase());
  return {
    data: {
      actors: [...models, ...actors].map((actor) => ({
        ...actorData(actor),
        ...(actor.type === "tool" ? { steps: actor.steps.length } : {}),
        ...(actor.type === "graph" ? { nodes: actor.route.nodes.length } : {}),
        default_for: rolesOf(actor.name),
      })),
      defaults: Object.fromEntries(ACTOR_ROLES.map((role) => [role, defaults[role] ?? null])),
      filters: { namespace: namespace ?? null },
      summary: { total, built_in: models.length, custom: actors.length },
    },
    view: [
      {
        kind: "table",
        title: "Actors",
        columns: [{ keep: "Name" }, "Type", "Default for", "Description"],
        rows: [...models, ...actors].map((actor) => [
          actor.name,
          actor.type,
          orDash(rolesOf(actor.name).join(", ") || undefined),
          actor.description,
        ]),
        empty: "No actors yet.",
      },
    ],
    messages: info(`${count(total, "actor")} listed.`),
    ...(total === 0 ? { next: ["agents actor add --config <file>"] } : {}),
  };
}

/** Never stored: what can be asked is what is configured now. */
async function offeredModels(context: CommandContext, namespace: string | undefined): Promise<LlmActorDefinition[]> {
  const { configuredProviders } = await import("../../actors/providers.ts");
  const { offeredActors } = await import("../../actors/built-in-actors.ts");
  const providers = configuredProviders((await context.config()).global, context.environment);
  const offered = offeredActors(providers);
  return offered.filter(({ provider }) => namespace === undefined || provider === namespace.toLowerCase());
}

async function defaultActors(context: CommandContext): Promise<Partial<Record<ActorRole, string | undefined>>> {
  const found: Partial<Record<ActorRole, string | undefined>> = {};
  for (const role of ACTOR_ROLES) found[role] = (await context.setting(defaultActorKey(role))).value;
  return found;
}

export async function actorShow(context: CommandContext, input: Input): Promise<Outcome> {
  const found = await context.actorNamed(input.argument(0));
  const builtIn = !("version" in found);
  const actor = builtIn ? { ...found, usedBy: [], neededBy: [] } : await (await context.actors()).getActor(found.name);
  const { TOOLS } = await import("../../execution/tool-pipeline.ts");
  const writes = (tool: ToolName): boolean => TOOLS.get(tool)?.writes ?? true;
  return {
    data: {
      actor_details: actorData(builtIn ? found : actor),
      ...partsData(actor),
      access: accessData(actor, writes),
      usage: { referenced_by_actions: actor.usedBy, referenced_by_graphs: actor.neededBy },
    },
    view: actorView(builtIn ? found : actor, [...actor.usedBy, ...actor.neededBy]),
    messages: [],
  };
}

export async function actorRemove(context: CommandContext, input: Input, asking?: Asking): Promise<Outcome> {
  const found = await context.actorNamed(input.argument(0));
  if (!("version" in found)) {
    throw new UsageError(`${found.name} is a model of a provider, not a registered actor: it cannot be removed.`, {
      kept: "Nothing was changed.",
      next: ["agents config list"],
    });
  }
  const actors = await context.actors();
  const { name } = found;
  if (!(await confirmed(`Remove the actor ${name}?`, input.flag("yes"), asking))) return declined("removed");
  await actors.removeActor(name);
  const defaults = await defaultActors(context);
  const roles = ACTOR_ROLES.filter((role) => defaults[role]?.toLowerCase() === name.toLowerCase());
  const messages: Message[] = [
    ...info(`Actor ${name} removed.`),
    ...roles.map((role) => ({ level: "warning" as const, text: `It was the default for ${role}; name another.` })),
  ];
  return {
    data: { removed: true, actor: name },
    view: [],
    messages,
    ...(roles.length === 0
      ? {}
      : { status: "warn", next: roles.map((role) => `agents actor set-default ${role} <actor>`) }),
  };
}

export async function actorSetDefault(context: CommandContext, input: Input): Promise<Outcome> {
  const word = input.argument(0);
  const role = ACTOR_ROLES.find((one) => one === word.toLowerCase());
  if (role === undefined) {
    const { suggestion } = suggested(word, ACTOR_ROLES);
    throw new UsageError(`There is no role "${word}"; there are ${ACTOR_ROLES.join(", ")}.`, {
      kept: "Nothing was changed.",
      ...(suggestion === undefined ? {} : { next: [`agents actor set-default ${suggestion} ${input.argument(1)}`] }),
    });
  }
  const { name } = await context.actorNamed(input.argument(1));
  const setting = findSetting(defaultActorKey(role));
  const problem = setting.problem(name);
  if (problem !== undefined) {
    // It can be asked, but not kept: the path of a transcript may hold anything.
    throw new ValidationError(`${shown(name)} cannot be a default: ${problem}`, [{ path: "actor", message: problem }]);
  }
  const { previous } = await storeSetting(context, setting, name);
  return {
    data: { role, actor: name, previous: previous ?? null, config_path: context.paths.config },
    view: [],
    messages: info(`Plans whose action names no ${role} actor now have ${name}.`),
    next: ["agents actor list"],
  };
}
