/**
 * An operation is one thing a user can do. Its entry in the table (`table/`) is plain data: name, summary, parameters,
 * role. Its file in `operations/` holds the schemas and the code, and is loaded when the operation is first called:
 * help and completion must not pay for zod or the database. Command line, HTTP, MCP and every other surface are
 * projections of the two.
 */
import type * as z from "zod";
import type { JsonObject } from "../../domain/values/json.ts";
import type { App } from "./app.ts";
import type { Call } from "./call.ts";

/**
 * The least that a caller must be allowed: look, work with plans, change what holds for everyone, or let others in.
 */
export type Role = "reader" | "operator" | "admin" | "owner";

/** One value of an operation's input, described so that each surface can spell it. */
export interface Parameter {
  /** The key in the operation's input, in camelCase. */
  readonly name: string;
  readonly about: string;
  /** How a text becomes the value; "text" unless given. */
  readonly kind?: ParameterKind;
  /** It must be given. */
  readonly required?: true;
  /** It may be given without its name, in the order of the parameters. */
  readonly positional?: true;
  /** It may be given several times; the value is a list. */
  readonly many?: true;
  readonly choices?: readonly string[];
  /** A flag that holds unless it is switched off. */
  readonly on?: true;
  /** The word that stands for one value in help: "dollars". */
  readonly value?: string;
  /** The option's word where it is not the name: `--arg` for `arguments`. */
  readonly word?: string;
  /** The option's letter. */
  readonly short?: string;
}

/**
 * `words`: all words that follow, joined by spaces. `pairs`: several `name=value`, a record. `path`: relative to the
 * caller's directory. `command`: the words of another program, a
 * list. `document`: a file of definitions, passed as `{ text, file, outside }`. `here`: the caller's
 * directory, never spelled.
 */
export type ParameterKind =
  | "text"
  | "words"
  | "flag"
  | "integer"
  | "number"
  | "pairs"
  | "path"
  | "document"
  | "command"
  | "here";

/** How an operation is offered as a tool to other people's agents. */
export interface ToolMark {
  /** Where it is not made from the operation's own name. */
  readonly name?: string;
  /** The parameters that an agent may give; the rest is its user's to choose. */
  readonly takes: readonly string[];
  /** It may take long: it is begun, and goes on while its caller does other things. */
  readonly long?: true;
  /** Asked before it is done, where the operation does not ask by itself. */
  readonly question?: string;
}

/** One operation as the table describes it, without its code. */
export interface TableEntry {
  readonly summary: string;
  readonly aliases?: readonly string[];
  readonly role: Role;
  readonly writes: boolean;
  /** It asks before it does something that cannot be taken back; a surface lets its user answer beforehand. */
  readonly asks?: true;
  readonly parameters?: readonly Parameter[];
  /** It is a tool of our server of the Model Context Protocol. */
  readonly tool?: ToolMark;
  /**
   * It carries a plan on as far as it may: where a yes is missing it stops, and its result says what comes next. Others
   * that ask do nothing without the yes.
   */
  readonly stops?: true;
  /** It is not listed as a command: a surface calls it by itself. */
  readonly hidden?: true;
  /** It makes sense only for a user of this machine, on a terminal or in files: a server does not offer it. */
  readonly local?: true;
  /** An input, as an example. */
  readonly example: JsonObject;
  readonly load: () => Promise<{ readonly operation: Operation<z.ZodType, z.ZodType> }>;
}

export interface Operation<Input extends z.ZodType, Output extends z.ZodType> {
  readonly input: Input;
  readonly output: Output;
  // A method, so that operations of different inputs fit into one table.
  run(app: App, input: z.output<Input>, call: Call): Promise<z.output<Output>>;
}

/** Ties the types of schemas and code together. */
export function defineOperation<Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Input, Output>,
): Operation<Input, Output> {
  return operation;
}
