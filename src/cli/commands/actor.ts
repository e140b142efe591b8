import { actorVariables, stepOrder, type ToolActor } from "../../domain/tool-actor.ts";
import { maskedJson } from "../../store/masking.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { confirmed, declined, type Asking } from "../confirm.ts";
import { readDefinition } from "../definition-file.ts";
import { count, instant } from "../format.ts";
import { info, type Outcome } from "../outcome.ts";
import type { View } from "../view.ts";

export async function actorAdd(context: CommandContext, input: Input): Promise<Outcome> {
  const { text, file } = readDefinition(input, { question: "Which actor?", command: "agents actor add" });
  const { parseActorFile } = await import("../../plans/actor-file.ts");
  const actor = await (await context.actors()).addActor(parseActorFile(text, file));
  return {
    data: { actor_added: actorData(actor), steps: stepData(actor) },
    view: actorView(actor, []),
    messages: info(`Actor ${actor.name} added.`),
    next: [`agents actor show ${actor.name}`, "agents action create --config <file>"],
  };
}

export async function actorList(context: CommandContext, input: Input): Promise<Outcome> {
  const namespace = input.text("namespace");
  const actors = await (await context.actors()).listActors(namespace);
  const models = await offeredModels(context, namespace);
  const total = models.length + actors.length;
  return {
    data: {
      actors: [
        ...models.map((name) => ({ name, type: "llm", builtin: true, description: MODEL })),
        ...actors.map((actor) => ({ ...actorData(actor), steps: actor.steps.length })),
      ],
      filters: { namespace: namespace ?? null },
      summary: { total, built_in: models.length, custom: actors.length },
    },
    view: [
      {
        kind: "table",
        title: "Actors",
        columns: [{ keep: "Name" }, "Type", "Steps", "Description"],
        rows: [
          ...models.map((name) => [name, "llm", "-", MODEL]),
          ...actors.map((actor) => [actor.name, actor.type, String(actor.steps.length), actor.description]),
        ],
        empty: "No actors yet.",
      },
    ],
    messages: info(`${count(total, "actor")} listed.`),
    ...(total === 0 ? { next: ["agents actor add --config <file>"] } : {}),
  };
}

const MODEL = "The model by itself, from the configuration";

/** Never stored: what can be asked is what is configured now. */
async function offeredModels(context: CommandContext, namespace: string | undefined): Promise<string[]> {
  const { configuredProviders } = await import("../../actors/providers.ts");
  const providers = configuredProviders((await context.config()).global, context.environment);
  return providers
    .filter(({ name }) => namespace === undefined || name === namespace.toLowerCase())
    .flatMap(({ name, models }) => models.map((model) => `${name}/${model}`));
}

export async function actorShow(context: CommandContext, input: Input): Promise<Outcome> {
  const actor = await (await context.actors()).getActor(input.argument(0));
  return {
    data: {
      actor_details: actorData(actor),
      steps: stepData(actor),
      waves: stepOrder(actor),
      usage: { referenced_by_actions: actor.usedBy },
    },
    view: actorView(actor, actor.usedBy),
    messages: [],
  };
}

export async function actorRemove(context: CommandContext, input: Input, asking?: Asking): Promise<Outcome> {
  const actors = await context.actors();
  const { name } = await actors.getActor(input.argument(0));
  if (!(await confirmed(`Remove the actor ${name}?`, input.flag("yes"), asking))) return declined("removed");
  await actors.removeActor(name);
  return { data: { removed: true, actor: name }, view: [], messages: info(`Actor ${name} removed.`) };
}

function actorData(actor: ToolActor): Record<string, unknown> {
  return {
    name: actor.name,
    type: actor.type,
    builtin: false,
    description: actor.description,
    variables: actorVariables(actor),
    version: actor.version,
    created_at: instant(actor.createdAt),
    updated_at: instant(actor.updatedAt),
  };
}

/** The steps in the order of the file, each with the number of the wave it runs in. */
function stepData(actor: ToolActor): Record<string, unknown>[] {
  const waves = waveNumbers(actor);
  return actor.steps.map((step) => ({ ...step, params: maskedJson(step.params).value, wave: waves.get(step.id) }));
}

function waveNumbers(actor: ToolActor): ReadonlyMap<string, number> {
  return new Map(stepOrder(actor).flatMap((ids, index) => ids.map((id) => [id, index + 1] as const)));
}

function actorView(actor: ToolActor, usedBy: readonly string[]): View {
  const waves = waveNumbers(actor);
  const variables = actorVariables(actor);
  return [
    {
      kind: "fields",
      title: actor.name,
      rows: [
        ["description", actor.description],
        ["type", actor.type],
        ["arguments", variables.length === 0 ? "-" : variables.join(", ")],
        ...(usedBy.length === 0 ? [] : [["used by", usedBy.join("\n")] as const]),
        ["created", instant(actor.createdAt)],
      ],
    },
    {
      kind: "table",
      title: "Steps",
      columns: ["Wave", { keep: "Step" }, "Tool", "Needs", "Parameters"],
      rows: actor.steps.map((step) => [
        String(waves.get(step.id)),
        step.id,
        step.tool,
        step.needs.length === 0 ? "-" : step.needs.join(", "),
        JSON.stringify(maskedJson(step.params).value),
      ]),
      empty: "",
    },
  ];
}
