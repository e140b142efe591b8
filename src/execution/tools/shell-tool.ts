/**
 * A command in the sandbox. It has the sandbox to itself; its changes are found by comparing the files before and
 * after. It returns for every exit code: a failing test is what the caller wants to read.
 */
import * as z from "zod";
import { startInBackground, startedText, type BackgroundOutput } from "./background-tools.ts";
import { programStart, runCaptured, seconds } from "./captured-program.ts";
import { lastLines } from "./cut-text.ts";
import { failureOf } from "./shell.ts";
import { tool, type BuiltInTool, type ToolCall } from "./tool.ts";

type ShellOutput = {
  readonly code: number;
  readonly output: string;
  readonly cut: boolean;
  readonly timedOut: boolean;
  readonly confined: boolean;
  /** Missing in records of older versions. */
  readonly durationMs?: number;
  readonly timeoutMs?: number;
  /** The hash of the whole output, when `output` is only a part of it. */
  readonly whole?: string;
};

const PARAMETERS = z.strictObject({
  command: z.string().min(1),
  cwd: z.string().optional().describe("directory to run in; the top of the resource unless given"),
  timeout_ms: z.int().min(1).max(3_600_000).default(600_000),
  background: z
    .boolean()
    .default(false)
    .describe("return at once and let it run until the step ends, such as a server; see command_output"),
  read_only: z.boolean().default(false).describe("it may not change files, so other commands beside it can"),
});

export const SHELL_TOOL: BuiltInTool = tool({
  name: "shell_execute",
  description:
    "Run a shell command in the sandbox and see its exit code and what it printed. It ends with all its processes; one that has to stay, such as a server, needs background",
  writes: true,
  compared: true,
  parameters: PARAMETERS,
  paths: ["cwd"],
  text: (output: ShellOutput | BackgroundOutput) => ("background" in output ? startedText(output) : shellText(output)),
  failure: (result: ShellOutput | BackgroundOutput) => {
    if ("background" in result) return undefined;
    const failure = failureOf(result, result.timeoutMs ?? 0);
    if (failure === undefined) return undefined;
    const said = lastLines(result.output);
    return `The command ${failure}:${said.includes("\n") ? "\n" : " "}${said}`;
  },
  run: (params, call) => (params.background ? inBackground(params, call) : toItsEnd(params, call)),
});

type Params = z.infer<typeof PARAMETERS>;

function inBackground({ command, cwd, read_only: readOnly }: Params, call: ToolCall): Promise<BackgroundOutput> {
  return startInBackground(command, call, readOnly, (tree) => programStart(call.workspace, tree, cwd));
}

function toItsEnd(
  { command, cwd, timeout_ms: timeoutMs, read_only: readOnly }: Params,
  call: ToolCall,
): Promise<ShellOutput> {
  return runCaptured({ command: ["/bin/sh", "-c", command], cwd, timeoutMs, readOnly, tellsLeftovers: true }, call);
}

function shellText({ code, output, timedOut, durationMs, timeoutMs }: ShellOutput): string {
  const took = durationMs === undefined ? "" : ` (took ${seconds(durationMs)})`;
  const end = timedOut
    ? `killed after ${seconds(timeoutMs ?? durationMs ?? 0)} (timeout_ms)`
    : `exit code ${code}${took}`;
  return `${end}\n${output === "" ? "(no output)" : output}`;
}
