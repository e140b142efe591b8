/**
 * A call of a tool that the user defined. Its program runs like a command of a plan: confined, with the sandbox to
 * itself, and its changes are found by comparing. It reads its parameters from its standard input, as JSON, or from
 * variables.
 */
import { parameterVariable, type OwnToolDefinition, type OwnToolProgram } from "../../../domain/tool/own-tool.ts";
import type { AddedOutput, AddedToolFacts } from "../../../domain/tool/added-tool.ts";
import type { JsonObject, JsonValue } from "../../../domain/values/json.ts";
import { runCaptured, seconds, type CapturedProgram, type ProgramOutcome } from "../captured-program.ts";
import { lastLines } from "../cut-text.ts";
import { ParameterSchema } from "../parameter-schema.ts";
import { failureOf } from "../shell.ts";
import type { AddedTool, ToolCall } from "../tool.ts";
import { runModule } from "./module-process.ts";

/** A definition as plans record it; a module with its text, so that a plan runs what was accepted. */
export type RecordedProgram =
  | Exclude<OwnToolProgram, { kind: "module" }>
  | { readonly kind: "module"; readonly path: string; readonly text: string };

interface Recorded extends Pick<OwnToolDefinition, "timeoutMs" | "output" | "cwd" | "env"> {
  readonly runs: RecordedProgram;
}

export function ownToolFacts(definition: OwnToolDefinition, runs: RecordedProgram): AddedToolFacts {
  const { name, description, parameters, writes, timeoutMs, output, cwd, env } = definition;
  const recorded = { runs, timeoutMs, output, env, ...(cwd === undefined ? {} : { cwd }) };
  return {
    name: name as `${string}/${string}`,
    description,
    source: "own",
    writes,
    compared: true,
    parameters,
    definition: JSON.parse(JSON.stringify(recorded)) as JsonObject,
  };
}

/** The tool behind recorded facts. */
export function ownTool({ parameters, definition, ...facts }: AddedToolFacts): AddedTool {
  const recorded = definition as unknown as Recorded;
  return {
    ...facts,
    schema: new ParameterSchema(parameters),
    run: (params, call) => called(facts, recorded, params, call),
  };
}

async function called(
  { name, writes }: Pick<AddedToolFacts, "name" | "writes">,
  { runs, timeoutMs, output, cwd, env }: Recorded,
  params: JsonObject,
  call: ToolCall,
): Promise<AddedOutput> {
  if (runs.kind === "module") return runModule({ name, text: runs.text, params, timeoutMs, env }, call);
  const program: CapturedProgram = {
    command: commandOf(runs, params),
    cwd,
    timeoutMs,
    readOnly: !writes,
    environment: { ...variablesOf(params), ...env },
    input: JSON.stringify(params),
    errorsApart: output === "json",
  };
  const outcome = await runCaptured(program, call);
  return output === "json" ? jsonOutput(name, outcome) : textOutput(name, outcome);
}

/** The shell finds the program, and takes its arguments as they are. */
function commandOf(runs: Exclude<RecordedProgram, { kind: "module" }>, params: JsonObject): string[] {
  if (runs.kind === "shell") return ["/bin/sh", "-c", runs.text];
  const filled = runs.command.map((item) =>
    item.replaceAll(/\{([A-Za-z_][\w-]*)\}/g, (_, name: string) => argumentText(params[name])),
  );
  return ["/bin/sh", "-c", 'exec "$@"', "sh", ...filled];
}

function argumentText(value: JsonValue | undefined): string {
  if (value === undefined) return "";
  // An argument of a program cannot hold one.
  return (typeof value === "string" ? value : JSON.stringify(value)).replaceAll("\0", "");
}

/** Characters of one variable; the kernel takes twice as many bytes. Longer values are in the standard input. */
const VARIABLE_LIMIT = 16 * 1024;

function variablesOf(params: JsonObject): Record<string, string> {
  const texts = Object.entries(params).map(([name, value]) => [parameterVariable(name), argumentText(value)] as const);
  return Object.fromEntries(texts.filter(([, text]) => text.length <= VARIABLE_LIMIT));
}

function textOutput(name: string, outcome: ProgramOutcome): AddedOutput {
  const { output, whole, timeoutMs } = outcome;
  const kept = whole === undefined ? {} : { whole };
  const why = failureOf(outcome, timeoutMs);
  if (why === undefined) return { text: output === "" ? "(no output)" : output, ...kept };
  return failed(name, outcome, output);
}

function failed(name: string, outcome: ProgramOutcome, said: string): AddedOutput {
  const { timedOut, code, timeoutMs, whole } = outcome;
  const end = timedOut ? `killed after ${seconds(timeoutMs)} (its time limit)` : `exit code ${code}`;
  const last = lastLines(said);
  return {
    text: `${end}\n${said === "" ? "(no output)" : said}`,
    failure: `${name} ${failureOf(outcome, timeoutMs)}:${last.includes("\n") ? "\n" : " "}${last}`,
    ...(whole === undefined ? {} : { whole }),
  };
}

function jsonOutput(name: string, outcome: ProgramOutcome): AddedOutput {
  const { output, errors = "", whole } = outcome;
  const said = [output, errors].filter((text) => text.trim() !== "").join("\n");
  if (failureOf(outcome, outcome.timeoutMs) !== undefined) return failed(name, outcome, said);
  try {
    if (whole !== undefined) throw new Error("it is too long");
    return { text: output, data: JSON.parse(output) as JsonValue };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const failure = `The output of ${name} is not JSON: ${why}`;
    return { text: `${failure}\n${said}`, failure };
  }
}
