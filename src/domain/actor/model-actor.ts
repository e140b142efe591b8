import { parseToolName } from "./actor-route.ts";
import type { ActorMemory, ActorOptions, LlmActorDefinition } from "./actor.ts";
import { CONTEXT_VIEWS, type ContextView } from "../context/context-policy.ts";
import { Fields, type Found, type Spellings } from "../definition/fields.ts";
import type { JsonObject } from "../values/json.ts";
import { parseReasoning, REASONING_FORM, type Reasoning } from "./reasoning.ts";
import { baseUrlProblem, PROVIDER_NAME } from "../settings/provider-settings.ts";
import { parseOwnName, type QualifiedName } from "../names/qualified-name.ts";
import { collect } from "../definition/schema.ts";
import { shown } from "../text/text.ts";
import { TOOL_NAMES, type ToolName } from "../names/tool-names.ts";

/** The common part of actors that ask models, in the spellings of today and of older files. */
const OPTION_SPELLINGS: Spellings = {
  max_output_tokens: ["max_tokens"],
  base_url: ["openai_api_base"],
};
export const MODEL_ACTOR_SPELLINGS: Spellings = {
  provider: ["provider_type"],
  model: ["model_id"],
  ...OPTION_SPELLINGS,
};
const OLDER_VIEWS: Readonly<Record<string, ContextView>> = {
  strategist: "strategize",
  executor: "execute",
};
const FORMAT_LIMITS = { depth: 32, bytes: 64 * 1024 };
const LARGEST = 10_000_000;

/** `given` is the name under which an older file has it; there, a description may be missing. */
export function parseModelActor(fields: Fields, given: string | undefined): LlmActorDefinition | undefined {
  const { issues } = fields;
  checkVersion(fields);
  const name = ownName(fields, given);
  const description = given === undefined ? fields.line(fields.require("description")) : describedBy(fields, given);
  const unsafe = fields.boolean("unsafe") ?? false;
  fields.refuse("role_hint", "is not implemented: the action and the plan say what an actor does; remove the line");
  const skills = fields.find("skills");
  if (skills !== undefined && !(Array.isArray(skills.value) && skills.value.length === 0)) {
    issues.push({ path: skills.path, message: "skills are not supported yet; name the tools in tools" });
  }
  const actor = {
    type: "llm" as const,
    provider: providerName(fields),
    model: fields.line(fields.find("model", { firstWins: true }), 200),
    systemPrompt: fields.text(fields.find("system_prompt")) ?? "",
    options: parseOptions(fields),
    tools: fields.has("tools") ? parseTools(fields) : undefined,
    contextView: fields.word(fields.find("context_view"), CONTEXT_VIEWS, OLDER_VIEWS),
    memory: parseMemory(fields),
    responseFormat: parseResponseFormat(fields),
    unsafe,
  };
  if (actor.provider === "scripted" && actor.options.baseUrl !== undefined) {
    issues.push({ path: fields.at("options"), message: "base_url: a scripted provider has no endpoint" });
  }
  return name === undefined || description === undefined ? undefined : { name, description, ...actor };
}

function describedBy(fields: Fields, name: string): string | undefined {
  const found = fields.find("description");
  return found === undefined ? name : fields.line(found);
}

function ownName(fields: Fields, given: string | undefined): QualifiedName | undefined {
  const found =
    given === undefined ? fields.require("name") : (fields.find("name") ?? { value: given, path: fields.path });
  const text = fields.filled(found);
  return text === undefined ? undefined : collect(() => parseOwnName(text, found?.path), fields.issues);
}

/** Many authors write it, but nothing uses it: it is checked and left out. */
export function checkVersion(fields: Fields): void {
  const found = fields.find("version");
  if (found === undefined) return;
  const { value } = found;
  // YAML reads 1.0 as a number.
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text === "string" && /^v?\d+(?:\.\d+){0,2}(?:[-+][\w.-]+)?$/.test(text)) return;
  fields.issues.push({ path: found.path, message: `is ${shown(found.value)}; it must be a version such as 1.0` });
}

function providerName(fields: Fields): string | undefined {
  const found = fields.find("provider", { firstWins: true });
  // Names of providers are lower case in the configuration; people write "OpenAI".
  const name = fields.filled(found)?.toLowerCase();
  if (name === undefined || PROVIDER_NAME.test(name)) return name;
  const message = `${shown(found?.value)} is not the name of a provider: lower-case letters, digits and "-", a letter first`;
  fields.issues.push({ path: found?.path ?? "", message });
  return undefined;
}

/** Older files have the options among the other lines of `config`. */
function parseOptions(fields: Fields): ActorOptions {
  const own = new Fields(fields.find("options") ?? { value: {}, path: "" }, fields.issues, {
    spellings: OPTION_SPELLINGS,
  });
  const option = (key: string): Found | undefined => own.find(key) ?? fields.find(key, { inBlock: true });
  const temperature = own.number(option("temperature"), { min: 0, max: 2 });
  const maxOutputTokens = own.number(option("max_output_tokens"), { min: 1, max: LARGEST, whole: true });
  const topP = own.number(option("top_p"), { min: 0, max: 1 });
  const baseUrl = endpoint(own, option("base_url"));
  const reasoning = reasoningOf(own, own.find("reasoning"));
  const providerOptions = own.object(own.find("provider_options"), FORMAT_LIMITS);
  own.end();
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(topP === undefined ? {} : { topP }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(providerOptions === undefined ? {} : { providerOptions }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
  };
}

function reasoningOf(fields: Fields, found: Found | undefined): Reasoning | undefined {
  if (found === undefined) return undefined;
  // Older readers of YAML take a bare `off` for false.
  const reasoning = parseReasoning(found.value === false ? "off" : found.value);
  if (reasoning === undefined) fields.issues.push({ path: found.path, message: REASONING_FORM });
  return reasoning;
}

function endpoint(fields: Fields, found: Found | undefined): string | undefined {
  const url = fields.filled(found);
  const problem = url === undefined ? undefined : baseUrlProblem(url);
  if (problem !== undefined) fields.issues.push({ path: found?.path ?? "", message: problem });
  return problem === undefined ? url?.replace(/\/+$/, "") : undefined;
}

function parseTools(fields: Fields): ToolName[] {
  return fields.list(fields.find("tools"), TOOL_NAMES.length).flatMap((one) => parseToolName(fields, one) ?? []);
}

function parseMemory(fields: Fields): ActorMemory {
  const found = fields.find("memory");
  if (found === undefined) return {};
  const memory = new Fields(found, fields.issues);
  if (memory.boolean("enabled") === false) {
    const message = "an actor always sees its own conversation; limit it with max_messages or max_tokens";
    fields.issues.push({ path: memory.at("enabled"), message });
  }
  const maxMessages = memory.number(memory.find("max_messages"), { min: 1, max: LARGEST, whole: true });
  const maxTokens = memory.number(memory.find("max_tokens"), { min: 1, max: LARGEST, whole: true });
  memory.end();
  return { ...(maxMessages === undefined ? {} : { maxMessages }), ...(maxTokens === undefined ? {} : { maxTokens }) };
}

/** A JSON Schema by itself, or wrapped as the interface of OpenAI has it. */
function parseResponseFormat(fields: Fields): JsonObject | undefined {
  const found = fields.find("response_format");
  const format = fields.object(found, FORMAT_LIMITS);
  if (format === undefined) return undefined;
  if (format["type"] === "object") return format;
  const wrapped = format["json_schema"] ?? format;
  const schema = typeof wrapped === "object" && wrapped !== null && "schema" in wrapped ? wrapped["schema"] : undefined;
  const isSchema = typeof schema === "object" && schema !== null && "type" in schema && schema["type"] === "object";
  if (format["type"] === "json_schema" && isSchema) return schema;
  const message =
    'must be a JSON Schema of "type: object", or "type: json_schema" with such a schema in json_schema.schema';
  fields.issues.push({ path: found?.path ?? "", message });
  return undefined;
}
