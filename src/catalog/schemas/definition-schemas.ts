/** The JSON Schema of each kind of file that a user writes, made from the parsers' own schemas. */
import { actionSchema } from "../../domain/action/action.ts";
import { actorForm } from "../../domain/actor/actor-form.ts";
import { formWhen, jsonForm } from "../../domain/definition/json-form.ts";
import { serversForm } from "../../domain/mcp/server-form.ts";
import { profileForm } from "../../domain/profile/profile-definition.ts";
import { configForm } from "../../domain/settings/config-form.ts";
import { ownTool } from "../../domain/tool/own-tool.ts";
import { toolSkill } from "../../domain/tool/tool-skill.ts";
import { validationForm } from "../../domain/validation/validation.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/values/json.ts";
import { KEY_TEXTS, type TextsOf } from "./key-texts.ts";
import type { FileKind } from "./file-kinds.ts";

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

const MAKERS: Readonly<Record<FileKind, () => JsonObject>> = {
  actor: () =>
    actorForm({
      llm: (form) => told(form, "llm"),
      graph: (form) => told(form, "graph"),
      tool: (form) => told(form, "tool_actor"),
      acp: (form) => told(form, "acp"),
    }),
  action: () => told(snakeKeys(jsonForm(actionSchema)), "action"),
  "automation-profile": () => inSections(told(profileForm(), "profile")),
  validation: () => told(validationForm(), "validation"),
  tool: () => inBlock("tool", told(jsonForm(ownTool), "tool")),
  skill: () => inBlock("skill", told(jsonForm(toolSkill), "skill")),
  "mcp-servers": serversForm,
  config: configForm,
};

/** `title` and `description` say what the file is. */
export function definitionSchema(kind: FileKind, about: { title: string; description: string }): JsonObject {
  return { $schema: DIALECT, ...about, ...MAKERS[kind]() };
}

/** With the texts of its keys. */
function told(form: JsonObject, texts: TextsOf): JsonObject {
  return Object.entries(KEY_TEXTS[texts]).reduce<JsonObject>(
    (made, [path, text]) => withText(made, path.split("."), text),
    form,
  );
}

function withText(form: JsonObject, [key = "", ...rest]: readonly string[], text: string): JsonObject {
  // The items of a list are meant, not the list.
  if (isJsonObject(form["items"] ?? null) && form["properties"] === undefined)
    return { ...form, items: withText(form["items"] as JsonObject, [key, ...rest], text) };
  const properties = form["properties"] as Readonly<Record<string, JsonObject>> | undefined;
  const property = properties?.[key];
  if (property === undefined) throw new Error(`The key ${key} has a text, and is not a key.`);
  const made = rest.length === 0 ? { description: text, ...property } : withText(property, rest, text);
  return { ...form, properties: { ...properties, [key]: made } };
}

/** The keys of an action's file have underscores. */
function snakeKeys(form: JsonObject): JsonObject {
  const snake = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const entries = Object.entries(form).map(([key, value]): [string, JsonValue] => {
    if (key === "required") return [key, (value as readonly string[]).map(snake)];
    if (key !== "properties") return [key, value];
    const renamed = Object.entries(value as JsonObject).map(([name, inner]): [string, JsonValue] => [
      snake(name),
      inner,
    ]);
    return [key, Object.fromEntries(renamed)];
  });
  return Object.fromEntries(entries);
}

/** The keys of a profile mean the same at the top and in their section. */
function inSections(form: JsonObject): JsonObject {
  const properties = form["properties"] as Readonly<Record<string, JsonObject>>;
  const made = Object.entries(properties).map(([name, section]): [string, JsonObject] => {
    const keys = section["properties"] as Readonly<Record<string, JsonObject>> | undefined;
    if (keys === undefined) return [name, section];
    const told = Object.entries(keys).map(([key, one]): [string, JsonObject] => [key, { ...properties[key], ...one }]);
    return [name, { ...section, properties: Object.fromEntries(told) }];
  });
  return { ...form, properties: Object.fromEntries(made) };
}

/** A definition that may stand in a block of an older file. */
function inBlock(block: string, form: JsonObject): JsonObject {
  const inside = { properties: { [block]: { type: "object" } }, required: [block], not: { required: ["name"] } };
  return { type: "object", ...formWhen(inside, { properties: { [block]: form } }, form) };
}
