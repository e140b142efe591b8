import * as z from "zod";
import { toolNames } from "./actor-route.ts";
import type { LlmActorDefinition } from "./actor.ts";
import { CONTEXT_VIEWS } from "../context/context-policy.ts";
import { jsonObject, list, maybe, number, parsedBy, reading, spelled, word, yesOrNo } from "../definition/spelling.ts";
import type { Form, Say } from "../definition/spelling.ts";
import type { JsonObject } from "../values/json.ts";
import { parseReasoning, REASONING_FORM, reasoningForm } from "./reasoning.ts";
import { baseUrlProblem, PROVIDER_NAME } from "../settings/provider-settings.ts";
import { parseOwnName } from "../names/qualified-name.ts";
import { filled, filledLine, fitting, text } from "../definition/checked-schema.ts";
import { isSkillName, isSkillSetName } from "../skill/skill-text.ts";
import { shown } from "../text/text.ts";

/** The common part of actors that ask models, in the spellings of today and of older files. */
const FORMAT_LIMITS = { depth: 32, bytes: 64 * 1024 };
const LARGEST = 10_000_000;

/** Many authors write it, but nothing uses it: it is checked and left out. */
export const version = reading<string>(
  (value, say) => {
    // YAML reads 1.0 as a number.
    const written = typeof value === "number" ? String(value) : value;
    if (typeof written === "string" && /^v?\d+(?:\.\d+){0,2}(?:[-+][\w.-]+)?$/.test(written)) return written;
    return say(`is ${shown(value)}; it must be a version such as 1.0`);
  },
  () => ({ type: ["string", "number"] }),
);

const provider = filled.transform((name, context) => {
  // Names of providers are lower case in the configuration; people write "OpenAI".
  if (PROVIDER_NAME.test(name.toLowerCase())) return name.toLowerCase();
  const message = `${shown(name)} is not the name of a provider: lower-case letters, digits and "-", a letter first`;
  context.issues.push({ code: "custom", message, input: name });
  return z.NEVER;
});

const baseUrl = filled
  .check((context) => {
    const message = baseUrlProblem(context.value);
    if (message !== undefined) context.issues.push({ code: "custom", message, input: context.value });
  })
  .transform((url) => url.replace(/\/+$/, ""));

export const maxOutputTokens = number(1, LARGEST, "whole");

/** Older files have these options among the other lines of `config`. */
const OLDER_OPTIONS = {
  temperature: number(0, 2).exactOptional(),
  maxOutputTokens: maxOutputTokens.exactOptional(),
  topP: number(0, 1).exactOptional(),
  baseUrl: baseUrl.exactOptional(),
};
const OPTION_SPELLINGS = { maxOutputTokens: ["max_tokens"], baseUrl: ["openai_api_base"] };

const reasoning = reading(
  // Older readers of YAML take a bare `off` for false.
  (value, say) => parseReasoning(value === false ? "off" : value) ?? say(REASONING_FORM),
  reasoningForm,
);

const options = spelled(
  {
    ...OLDER_OPTIONS,
    reasoning: reasoning.exactOptional(),
    providerOptions: jsonObject(FORMAT_LIMITS).exactOptional(),
  },
  { older: OPTION_SPELLINGS },
);

const ALWAYS_ENABLED = "an actor always sees its own conversation; limit it with max_messages or max_tokens";
const memory = spelled(
  {
    enabled: yesOrNo.refine((enabled) => enabled, { message: ALWAYS_ENABLED }).optional(),
    maxMessages: number(1, LARGEST, "whole").exactOptional(),
    maxTokens: number(1, LARGEST, "whole").exactOptional(),
  },
  {},
  (values) => {
    const { enabled: _, ...limits } = values;
    return limits;
  },
);

/** A JSON Schema by itself, or wrapped as the interface of OpenAI has it. */
const responseFormat = jsonObject(FORMAT_LIMITS).transform((format, context): JsonObject => {
  if (format["type"] === "object") return format;
  const wrapped = format["json_schema"] ?? format;
  const schema = typeof wrapped === "object" && wrapped !== null && "schema" in wrapped ? wrapped["schema"] : undefined;
  const isSchema = typeof schema === "object" && schema !== null && "type" in schema && schema["type"] === "object";
  if (format["type"] === "json_schema" && isSchema) return schema;
  const message =
    'must be a JSON Schema of "type: object", or "type: json_schema" with such a schema in json_schema.schema';
  context.issues.push({ code: "custom", message, input: format });
  return z.NEVER;
});

const MOST_SKILLS = 200;
/** A folder's name, or the name of a set of tools with its namespace. */
const skillName = filled.refine((name) => isSkillName(name) || isSkillSetName(name), {
  error: ({ input }) => `${shown(input)} is not the name of a skill: lower-case letters, digits and single hyphens`,
});
const skills = list(skillName, MOST_SKILLS);

/** The keys of an actor that asks models. */
export const MODEL_ACTOR_SHAPE = {
  type: z.unknown().optional(),
  version: version.optional(),
  name: parsedBy((name) => parseOwnName(name)),
  description: filledLine,
  provider: maybe(provider),
  model: maybe(filledLine.max(200, "is longer than 200 characters")),
  systemPrompt: text.default(""),
  ...OLDER_OPTIONS,
  options: options.default({}),
  tools: maybe(toolNames),
  contextView: maybe(word(CONTEXT_VIEWS, { strategist: "strategize", executor: "execute" })),
  memory: memory.default({}),
  responseFormat: maybe(responseFormat),
  unsafe: yesOrNo.default(false),
  skills: maybe(skills),
};

/** How their keys are written. Actors, unlike graphs that are actors by themselves, have a block as well. */
export const MODEL_ACTOR_FORM = {
  older: { provider: ["provider_type"], model: ["model_id"], ...OPTION_SPELLINGS },
  inBlock: Object.keys(OLDER_OPTIONS),
  firstWins: ["provider", "model"],
  refused: { role_hint: "is not implemented: the action and the plan say what an actor does; remove the line" },
} satisfies Form;

/** The actor that these values describe. */
export function modelActor(values: z.output<z.ZodObject<typeof MODEL_ACTOR_SHAPE>>, say: Say): LlmActorDefinition {
  const { name, description, model, systemPrompt, tools, contextView, unsafe } = values;
  const older = fitting(z.object(OLDER_OPTIONS), values) ?? {};
  for (const key of Object.keys(older)) {
    if (key in values.options) say("stands among the options too; keep one of them", { path: [key] });
  }
  const actor: LlmActorDefinition = {
    name,
    type: "llm",
    description,
    provider: values.provider,
    model,
    systemPrompt,
    options: { ...older, ...values.options },
    tools,
    contextView,
    memory: values.memory,
    responseFormat: values.responseFormat,
    unsafe,
    ...(values.skills === undefined ? {} : { skills: values.skills }),
  };
  if (actor.provider === "scripted" && actor.options.baseUrl !== undefined) {
    say("base_url: a scripted provider has no endpoint", { path: ["options"] });
  }
  return actor;
}
