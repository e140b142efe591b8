/**
 * The tools of our server: one for each operation that is marked in the table, with its summary, its parameters and its
 * schemas. Of three kinds: a call answers when it is done; a long one answers when its work has begun, with the plan as
 * it then is; an approval is done after a yes to the version of the plan that was seen.
 */
import * as z from "zod";
import type { Operation, TableEntry, ToolMark } from "../app/base/operation.ts";
import { snakeCase } from "../app/base/wire.ts";
import { inputSchema, outputSchema, type WireSchema } from "../app/base/wire-schema.ts";
import { isOperation, OPERATIONS, type OperationName } from "../app/table/operation-table.ts";

export interface MarkedTool {
  /** "plan_diff" */
  readonly name: string;
  readonly operation: OperationName;
  readonly kind: "call" | "long" | "approval";
  readonly mark: ToolMark;
  /** The keys are those of the operation, and those of its kind. */
  readonly input: z.ZodObject;
  /** It takes the directory that its caller works in. */
  readonly takesDirectory: boolean;
  readonly output: z.ZodType;
  readonly listed: ListedTool;
}

/** As the protocol lists it. */
interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: WireSchema;
  readonly outputSchema: WireSchema;
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint?: boolean };
}

/** Beyond it a client that waits for its answer gives up, unless it is told of progress. */
const LONGEST_SECONDS = 600;

const WAIT = z
  .number()
  .min(0)
  .max(LONGEST_SECONDS)
  .optional()
  .describe("answer when the work stops, or after so many seconds; otherwise as soon as it has begun");
const APPROVE = z
  .boolean()
  .optional()
  .describe("the user saw this version of the plan and said yes; expected_version must be given with it");
const DIRECTORY = z
  .string()
  .optional()
  .describe("the absolute path of the directory you work in; otherwise that of the client, or of the server");

const KIND_WORDS = {
  call: "",
  long: " Answers with the plan as soon as the work has begun; plan_wait waits for its end. The user's files stay as they are.",
  approval:
    " Needs the user's yes: call it without approve to learn what will happen, then with approve and expected_version.",
} as const;

export function toolName(operation: string): string {
  return operation.replaceAll(/[.-]/g, "_");
}

/** In the order of the table. */
export async function markedTools(readOnly: boolean): Promise<ReadonlyMap<string, MarkedTool>> {
  const tools = new Map<string, MarkedTool>();
  const { output: standing } = (await OPERATIONS["plan.await"].load()).operation;
  for (const [name, entry] of Object.entries<TableEntry>(OPERATIONS)) {
    const { tool: mark } = entry;
    if (mark === undefined || !isOperation(name) || (readOnly && entry.writes)) continue;
    const { operation } = await entry.load();
    const tool = toolOf({ name, entry, mark, operation, standing });
    tools.set(tool.name, tool);
  }
  return tools;
}

interface MarkedEntry {
  readonly name: OperationName;
  readonly entry: TableEntry;
  readonly mark: ToolMark;
  readonly operation: Operation<z.ZodType, z.ZodType>;
  /** The output of a long one. */
  readonly standing: z.ZodType;
}

function toolOf({ name, entry, mark, operation, standing }: MarkedEntry): MarkedTool {
  const kind = mark.long === true ? "long" : entry.asks === true ? "approval" : "call";
  const takesDirectory = entry.parameters?.some((parameter) => parameter.kind === "here") === true;
  const input = z.strictObject({
    ...givenShape(entry, mark, operation.input, kind === "approval"),
    ...(takesDirectory ? { directory: DIRECTORY } : {}),
    ...(kind === "long" ? { waitSeconds: WAIT } : {}),
    ...(kind === "approval" ? { approve: APPROVE } : {}),
  });
  const output = kind === "long" ? standing : operation.output;
  const listed = {
    name: mark.name ?? toolName(name),
    description: `${entry.summary}.${KIND_WORDS[kind]}`,
    inputSchema: inputSchema(input),
    outputSchema: outputSchema(output),
    annotations: { readOnlyHint: !entry.writes, ...(entry.writes ? { destructiveHint: kind === "approval" } : {}) },
  };
  return { name: listed.name, operation: name, kind, mark, input, takesDirectory, output, listed };
}

/** The parameters that an agent may give. A yes is for a plan that was named, never for the newest that fits. */
function givenShape(
  { parameters = [] }: TableEntry,
  { takes }: ToolMark,
  input: z.ZodType,
  plansAreNamed: boolean,
): Record<string, z.ZodType> {
  if (!(input instanceof z.ZodObject)) throw new Error("the input of a tool must be an object");
  const shape: Readonly<Record<string, z.ZodType>> = input.shape;
  return Object.fromEntries(
    parameters
      .filter(({ name }) => takes.includes(name))
      .flatMap(({ name, about }) => {
        const field = shape[name];
        if (field === undefined) return [];
        if (name === "plan" && plansAreNamed) return [[name, z.string().min(1).describe("its id or number")]];
        return [[name, field.describe(about)]];
      }),
  );
}

/** The input of the tool, in the words of the operation. */
export function camelKeys({ input }: MarkedTool, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const names = new Map(Object.keys(input.shape).map((name) => [snakeCase(name), name]));
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [names.get(key) ?? key, value]));
}
