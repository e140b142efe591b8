/** The JSON Schema of an actor's file, in today's form or the older one that has several actors. */
import { acpActor } from "./acp-actor-parser.ts";
import { ACTOR_FORM, ACTOR_TYPES, graphActor, llmActor, routeActor, severalActors } from "./actor-parser.ts";
import type { ActorType } from "./actor.ts";
import { toolActorForm } from "./tool-actor.ts";
import { formWhen, jsonForm, mapForm, typedForm, type FormRules } from "../definition/json-form.ts";
import { type JsonObject } from "../values/json.ts";

type Describe = Readonly<Record<ActorType, (form: JsonObject) => JsonObject>>;

const MAKERS: Readonly<Record<ActorType, (rules: FormRules) => JsonObject>> = {
  llm: (rules) => jsonForm(llmActor, rules),
  graph: (rules) => jsonForm(graphActor, rules),
  tool: toolActorForm,
  acp: (rules) => jsonForm(acpActor, rules),
};

/** `describe` puts in the texts of the keys of each type. */
export function actorForm(describe: Describe): JsonObject {
  const typed = (rules: FormRules): JsonObject =>
    typedForm(
      ACTOR_TYPES.map((type) => ({ words: [type], form: describe[type](MAKERS[type](rules)) })),
      ACTOR_FORM.block,
    );
  const several = ["actors", "agents", "routes", "cleveragents"].map((key) => ({ required: [key] }));
  const named = severalForm(typed({ optional: ["name", "description"] }));
  const form = formWhen({ not: { required: ["type"] }, anyOf: several }, named, typed({}));
  return mapForm({ type: "object", ...form }, takingVariables);
}

/** The actors of an older file stand under their names; so do graphs that are actors by themselves. */
function severalForm(actor: JsonObject): JsonObject {
  const form = jsonForm(severalActors);
  const named = { type: "object", additionalProperties: actor };
  const route = jsonForm(routeActor, { optional: ["name", "description"] });
  return {
    ...form,
    properties: {
      ...(form["properties"] as JsonObject),
      actors: named,
      agents: { ...named, deprecated: true },
      routes: { type: "object", additionalProperties: route },
    },
  };
}

/** `${VARIABLE}` may stand for a number, a switch or a word. */
function takingVariables(part: JsonObject): JsonObject {
  const { type } = part;
  const fixed = type === "number" || type === "integer" || type === "boolean" || part["enum"] !== undefined;
  if (!fixed || type === "object") return part;
  const { description, deprecated, default: usual, ...rest } = part;
  const about = Object.entries({ description, deprecated, default: usual }).filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(about) as JsonObject),
    anyOf: [rest, { type: "string", pattern: String.raw`\$\{` }],
  };
}
