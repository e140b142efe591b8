/**
 * The parameters of a tool that is not built in, by a JSON Schema. The schema may come from a program that lies or is
 * broken: a schema that cannot be used is a problem of the call and not of the plan.
 */
import { Validator, type ValidationError as Mismatch } from "jsonschema";
import type { ValidationIssue } from "../../domain/errors/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/values/json.ts";

/** Of a value with very many problems, a model needs the first ones. */
const MOST_ISSUES = 20;
/** References within a schema are resolved against it; nothing is fetched. */
const BASE = "https://schema.invalid/";

export class ParameterSchema {
  readonly json: JsonObject;

  constructor(json: JsonObject) {
    this.json = json;
  }

  get names(): readonly string[] {
    const { properties } = this.json;
    return properties !== undefined && isJsonObject(properties) ? Object.keys(properties) : [];
  }

  /** The names as a model is told them: `path, limit?`. */
  get told(): string {
    const { required } = this.json;
    const needed = new Set<unknown>(Array.isArray(required) ? required : []);
    return this.names.map((name) => (needed.has(name) ? name : `${name}?`)).join(", ");
  }

  issues(params: JsonObject): ValidationIssue[] {
    try {
      // `$schema` is left out: an unknown one would be taken for a reference.
      const { $schema: _, ...schema } = this.json;
      const { errors } = new Validator().validate(params, schema, { nestedErrors: true, base: BASE });
      return errors.map(issueOf).slice(0, MOST_ISSUES);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return [{ path: "", message: `cannot be checked, because the tool's schema is not usable: ${why}` }];
    }
  }
}

function issueOf({ path, name, argument, message, instance }: Mismatch): ValidationIssue {
  const at = path.join(".");
  const inner = (key: string): string => (at === "" ? key : `${at}.${key}`);
  if (name === "required" && typeof argument === "string") return { path: inner(argument), message: "is required" };
  if (name === "additionalProperties" && typeof argument === "string")
    return { path: inner(argument), message: "is not a parameter" };
  if (name === "type" && Array.isArray(argument)) {
    const found = instance === null ? "null" : Array.isArray(instance) ? "array" : typeof instance;
    return { path: at, message: `is of type ${found}; it must be ${argument.join(" or ")}` };
  }
  return { path: at, message };
}

/** The problems of a schema that its author can mend. */
export function schemaProblems(schema: JsonValue): ValidationIssue[] {
  if (!isJsonObject(schema)) return [{ path: "", message: "must be a JSON Schema" }];
  if (schema["type"] !== "object") return [{ path: "type", message: 'must be "object"' }];
  const { properties = {} } = schema;
  if (!isJsonObject(properties)) return [{ path: "properties", message: "must be parameters by their names" }];
  const bad = new ParameterSchema(schema).issues({}).filter(({ message }) => message.startsWith("cannot be checked"));
  return [...bad, ...patternProblems(schema, "")];
}

/** A wrong regular expression shows itself only at a value. */
function patternProblems(value: JsonValue, path: string): ValidationIssue[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value as JsonObject).flatMap(([key, item]) => {
    const at = path === "" ? key : `${path}.${key}`;
    if (key !== "pattern" || typeof item !== "string") return patternProblems(item, at);
    try {
      RegExp(item, "u");
      return [];
    } catch (error) {
      return [{ path: at, message: error instanceof Error ? error.message : String(error) }];
    }
  });
}
