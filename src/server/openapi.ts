/** The OpenAPI document of the server, made from the table of operations and their schemas. */
import type * as z from "zod";
import { VERSION } from "../app/base/package-version.ts";
import type { Parameter, TableEntry } from "../app/base/operation.ts";
import { wireSchema, type JsonSchema } from "../app/base/wire-schema.ts";
import { snakeCase } from "../app/base/wire.ts";
import { OPERATIONS, type OperationName } from "../app/table/operation-table.ts";
import type { ApprovalKeys } from "./operation-call.ts";
import { routedOperations } from "./routed-operations.ts";
import { OPERATIONS_PATH } from "./spell.ts";

const SCHEMAS = "#/components/schemas/";

export async function openApiDocument(): Promise<JsonSchema> {
  const schemas: Record<string, JsonSchema> = { error: ERROR_ENVELOPE };
  const paths: Record<string, JsonSchema> = { ...FIXED_PATHS };
  for (const [name, entry] of routedOperations()) {
    const { operation } = await OPERATIONS[name].load();
    for (const io of ["input", "output"] as const) {
      const refer = (part: string): string => (part === "#" ? `${SCHEMAS}${name}.${io}` : partPlace(name, io, part));
      const made = wireSchema(operation[io] as z.ZodType, io, refer);
      schemas[`${name}.${io}`] = io === "input" ? withApproval(made.schema, entry) : made.schema;
      for (const [part, schema] of Object.entries(made.parts)) schemas[`${name}.${io}.${part}`] = schema;
    }
    paths[`${OPERATIONS_PATH}${name}`] = {
      post: postOf(name, entry),
      ...(entry.writes ? {} : { get: getOf(name, entry) }),
    };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "CleverAgents",
      version: VERSION,
      description:
        "Each operation of CleverAgents is a route. A body, and the data of an answer, are the same JSON as on the command line.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    security: [{ token: [] }],
    paths,
    components: { securitySchemes: { token: { type: "http", scheme: "bearer" } }, schemas },
  };
}

function partPlace(name: string, io: string, part: string): string {
  return `${SCHEMAS}${name}.${io}.${part}`;
}

function withApproval(input: JsonSchema, { asks, parameters = [] }: TableEntry): JsonSchema {
  const keys = [...(asks === true ? ["approve"] : []), ...(parameters.some(isPlan) ? ["seen_version"] : [])];
  if (keys.length === 0) return input;
  const more = Object.fromEntries(Object.entries(APPROVAL_SCHEMAS).filter(([key]) => keys.includes(key)));
  return { ...input, properties: { ...(input["properties"] as JsonSchema), ...more } };
}

function isPlan({ name }: Parameter): boolean {
  return name === "plan";
}

const APPROVAL_SCHEMAS = {
  approve: { type: "boolean", description: "Answers the question of the operation with yes." },
  seen_version: { type: "integer", description: "The version of the plan that was seen; with another one: 409." },
} satisfies Record<keyof typeof ApprovalKeys, JsonSchema>;

function postOf(name: OperationName, entry: TableEntry): JsonSchema {
  const content = { "application/json": { schema: { $ref: `${SCHEMAS}${name}.input` }, example: exampleOf(entry) } };
  return { operationId: name, ...aboutOf(entry), requestBody: { content }, responses: responsesOf(name) };
}

function getOf(name: OperationName, entry: TableEntry): JsonSchema {
  const parameters = (entry.parameters ?? []).map(queryParameter);
  return { operationId: `${name}.get`, ...aboutOf(entry), parameters, responses: responsesOf(name) };
}

function aboutOf({ summary, role, asks }: TableEntry): JsonSchema {
  const question = asks === true ? " It asks before something that cannot be taken back: see approve." : "";
  return { summary, description: `For the role ${role} and above.${question}` };
}

function exampleOf({ example }: TableEntry): JsonSchema {
  return Object.fromEntries(Object.entries(example).map(([name, value]) => [snakeCase(name), value]));
}

function queryParameter({ name, about, required, many, kind, choices }: Parameter): JsonSchema {
  const types: Readonly<Record<string, string>> = { flag: "boolean", integer: "integer", number: "number" };
  const one = { type: types[kind ?? "text"] ?? "string", ...(choices === undefined ? {} : { enum: choices }) };
  const schema = many === true ? { type: "array", items: one } : one;
  return { name: snakeCase(name), in: "query", description: about, required: required === true, schema };
}

function responsesOf(name: OperationName): JsonSchema {
  const schema = envelope({ $ref: `${SCHEMAS}${name}.output` });
  return { "200": jsonResponse("The result", schema), default: ERROR_RESPONSE };
}

function jsonResponse(description: string, schema: JsonSchema): JsonSchema {
  return { description, content: { "application/json": { schema } } };
}

const ERROR_RESPONSE = jsonResponse("An error: its status by its code", { $ref: `${SCHEMAS}error` });

function envelope(data: JsonSchema, more: JsonSchema = {}): JsonSchema {
  const text = { type: "string" };
  const message = { type: "object", properties: { level: { enum: ["info", "warning", "error"] }, text } };
  const properties = {
    command: text,
    status: { enum: ["ok", "error"] },
    exit_code: { type: "integer" },
    data,
    messages: { type: "array", items: message },
    timing: {
      type: "object",
      properties: { started: text, duration_ms: { type: "integer" } },
      required: ["started", "duration_ms"],
    },
    ...more,
  };
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

const ERROR_ENVELOPE: JsonSchema = envelope(
  { type: "object" },
  {
    error: {
      type: "object",
      properties: {
        code: { type: "string" },
        message: { type: "string" },
        detail: { type: "object" },
        kept: { type: ["string", "null"] },
        suggestions: { type: "array", items: { type: "string" } },
      },
      required: ["code", "message", "detail", "kept", "suggestions"],
      additionalProperties: false,
    },
  },
);

const LAST_EVENT: readonly JsonSchema[] = [
  {
    name: "Last-Event-ID",
    in: "header",
    required: false,
    description: "the id of the last event that was seen; 0 for all",
    schema: { type: "integer" },
  },
];
const PLAN_PATH: JsonSchema = {
  name: "plan",
  in: "path",
  required: true,
  description: "the plan's id, or its first characters",
  schema: { type: "string" },
};
const STREAM: JsonSchema = {
  "200": { description: "Server-sent events", content: { "text/event-stream": { schema: { type: "string" } } } },
  default: ERROR_RESPONSE,
};
const PUBLIC: JsonSchema = {
  summary: "Whether the server answers",
  security: [],
  responses: {
    "200": jsonResponse("It does", { type: "object", properties: { status: { type: "string" } } }),
    default: { description: "It does not take requests" },
  },
};

const FIXED_PATHS: Readonly<Record<string, JsonSchema>> = {
  "/health": { get: { operationId: "health", ...PUBLIC } },
  "/live": { get: { operationId: "live", ...PUBLIC } },
  "/ready": { get: { operationId: "ready", ...PUBLIC } },
  "/api/v1/events": {
    get: { operationId: "events", summary: "Follow the events", parameters: LAST_EVENT, responses: STREAM },
  },
  "/api/v1/plans/{plan}/events": {
    get: {
      operationId: "plan.events",
      summary: "Follow the events of a plan",
      parameters: [PLAN_PATH, ...LAST_EVENT],
      responses: STREAM,
    },
  },
  "/metrics": {
    get: {
      operationId: "metrics",
      summary: "Numbers of the server, in Prometheus' text form",
      responses: {
        "200": { description: "The numbers", content: { "text/plain": { schema: { type: "string" } } } },
        default: ERROR_RESPONSE,
      },
    },
  },
};
