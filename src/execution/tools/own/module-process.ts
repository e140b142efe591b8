/**
 * A trusted module: JavaScript that the user has accepted by its content, in a process of its own outside of the
 * sandbox. The process gets the accepted text and not the file, so that no change in between can run; the text can
 * import the modules of Node and nothing else. It works in the plan's files, its changes are found by comparing, and
 * like any command it ends with its time limit, its plan and this process.
 */
import { AgentsError } from "../../../domain/errors/errors.ts";
import type { AddedOutput } from "../../../domain/tool/added-tool.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../domain/values/json.ts";
import { programStart, shownOutput } from "../captured-program.ts";
import { runProgram, type ProgramResult } from "../shell.ts";
import type { ToolCall } from "../tool.ts";

/** Runs in the new process. Its standard output is for the answer; everything that the module prints is put apart. */
const RUNNER = `
const answer = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);
const end = (value, code) => answer(JSON.stringify(value), () => process.exit(code));
let given = "";
for await (const chunk of process.stdin.setEncoding("utf8")) given += chunk;
try {
  const { text, params, directory } = JSON.parse(given);
  const { default: run } = await import("data:text/javascript;base64," + Buffer.from(text).toString("base64"));
  if (typeof run !== "function") throw new Error("the module has no default export that is a function");
  const value = await run(params, { directory });
  end({ value: value === undefined ? null : value }, 0);
} catch (error) {
  end({ error: error instanceof Error ? error.message : String(error) }, 1);
}
`;

export interface ModuleCall {
  readonly name: string;
  readonly text: string;
  readonly params: JsonObject;
  readonly timeoutMs: number;
  readonly env: Readonly<Record<string, string>>;
}

export async function runModule(module: ModuleCall, call: ToolCall): Promise<AddedOutput> {
  const { name, text, params, timeoutMs, env } = module;
  const { workspace, by, signal } = call;
  const result = await workspace.capture(by, async (tree) => {
    if (tree.readOnlyTree)
      throw new AgentsError("tool_failed", `"${name}" can write, and files are read-only at this moment.`);
    const input = JSON.stringify({ text, params, directory: tree.root });
    const options = { ...(await programStart(workspace, tree, undefined)), environment: env, input, errorsApart: true };
    const command = [process.execPath, "--input-type=module", "-e", RUNNER];
    return runProgram(command, { ...options, outside: true, timeoutMs, signal });
  });
  signal.throwIfAborted();
  return outputOf(name, answerOf(result, timeoutMs), result, call);
}

type Answer = { readonly value: JsonValue } | { readonly error: string };

function answerOf({ output, timedOut }: ProgramResult, timeoutMs: number): Answer {
  if (timedOut) return { error: `it did not end within ${timeoutMs} ms` };
  try {
    const answer = JSON.parse(output) as JsonValue;
    if (isJsonObject(answer) && typeof answer["error"] === "string") return { error: answer["error"] };
    if (isJsonObject(answer) && answer["value"] !== undefined) return { value: answer["value"] };
  } catch {
    // A process that ended in the middle gave no answer, or a part of one.
  }
  return { error: "its process ended without an answer" };
}

async function outputOf(name: string, answer: Answer, result: ProgramResult, call: ToolCall): Promise<AddedOutput> {
  const value = "value" in answer ? answer.value : null;
  const said = value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);
  const all = [(result.errors ?? "").trimEnd(), said].filter((text) => text !== "").join("\n");
  const { errors: _, ...ran } = result;
  const { output, whole } = await shownOutput({ ...ran, output: all }, call);
  const kept = whole === undefined ? {} : { whole };
  if ("error" in answer) {
    const text = `failed: ${answer.error}${output === "" ? "" : `\n${output}`}`;
    return { text, failure: `${name} failed: ${answer.error}`, ...kept };
  }
  const data = value === null || typeof value === "string" ? {} : { data: value };
  return { text: output === "" ? "(no output)" : output, ...data, ...kept };
}
