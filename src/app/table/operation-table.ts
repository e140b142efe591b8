/** The one table of operations. Help, completion, documentation and every surface are made from it. */
import type * as z from "zod";
import { CATALOG_TABLE } from "./catalog-table.ts";
import { CONTEXT_TABLE } from "./context-table.ts";
import { DEFINITION_TABLE } from "./definition-table.ts";
import { EXTENSION_TABLE } from "./extension-table.ts";
import { JOB_TABLE } from "./job-table.ts";
import { MCP_TABLE } from "./mcp-table.ts";
import { MODELS_TABLE } from "./models-table.ts";
import { PLAN_TABLE } from "./plan-table.ts";
import { RESULT_TABLE } from "./result-table.ts";
import { SERVER_TABLE } from "./server-table.ts";
import { SESSION_TABLE } from "./session-table.ts";
import { STEERING_TABLE } from "./steering-table.ts";
import { SYSTEM_TABLE } from "./system-table.ts";

/** Every operation by its name: what it does, its parameters, an example, and who may call it. */
export const OPERATIONS = {
  ...CATALOG_TABLE,
  ...EXTENSION_TABLE,
  ...DEFINITION_TABLE,
  ...PLAN_TABLE,
  ...RESULT_TABLE,
  ...STEERING_TABLE,
  ...JOB_TABLE,
  ...SESSION_TABLE,
  ...CONTEXT_TABLE,
  ...MODELS_TABLE,
  ...MCP_TABLE,
  ...SYSTEM_TABLE,
  ...SERVER_TABLE,
};

/** The name of an operation: "plan.use". */
export type OperationName = keyof typeof OPERATIONS;

type Loaded<Name extends OperationName> = Awaited<ReturnType<(typeof OPERATIONS)[Name]["load"]>>["operation"];

/** The input of an operation, as a caller writes it. */
export type InputOf<Name extends OperationName> = z.input<Loaded<Name>["input"]>;

/** The value that an operation returns. */
export type OutputOf<Name extends OperationName> = z.output<Loaded<Name>["output"]>;

export function isOperation(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name);
}
