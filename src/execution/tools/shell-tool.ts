/**
 * A command in the sandbox. It has the sandbox to itself; its changes are found by comparing the files before and
 * after. It returns for every exit code: a failing test is what the caller wants to read.
 */
import * as z from "zod";
import { maskedText } from "../../platform/masking.ts";
import type { TreeAccess, Workspace } from "../workspace/workspace.ts";
import { startInBackground, startedText, type BackgroundOutput } from "./background-tools.ts";
import { outputPath } from "./call-outputs.ts";
import { cutText, lastLines } from "./cut-text.ts";
import { borrowedBy, failureOf, runShell, workingDirectory, type ProgramStart } from "./shell.ts";
import { tool, type Tool, type ToolCall } from "./tool.ts";

/** Characters of an output that a model is shown at once. */
const SHOWN_TO_MODELS = 30_000;
/** Characters that are recorded for a program. */
const RECORDED = 256 * 1024;
/** Characters that are kept to be read in parts. */
const KEPT = 10 * 1024 * 1024;

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

export const SHELL_TOOL: Tool = tool({
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
  return startInBackground(command, call, readOnly, (tree) => optionsOf(call.workspace, tree, cwd));
}

async function toItsEnd(params: Params, call: ToolCall): Promise<ShellOutput> {
  const { command, cwd, timeout_ms: timeoutMs } = params;
  const { workspace, by, signal, forModel, outputs } = call;
  const result = await workspace.capture(by, async (tree) => {
    const access = params.read_only && !tree.readOnlyTree ? { ...tree, readOnlyTree: true } : tree;
    const options = await optionsOf(workspace, access, cwd);
    const ran = await runShell(command, { ...options, timeoutMs, signal, tellsLeftovers: true });
    return tree.beside === undefined ? ran : { ...ran, output: `${ran.output}${besideNote(ran, tree.beside)}` };
  });
  // A command that was ended because its plan was stopped says nothing about itself.
  signal.throwIfAborted();
  // Masked as a whole: a key of several lines is not recognized in parts.
  const all = maskedText(result.output.replaceAll("\0", "\u{FFFD}").toWellFormed());
  const where = outputs === undefined ? "" : `; read them with read_file ${outputPath(by)}`;
  const shown = cutText(all, forModel ? SHOWN_TO_MODELS : RECORDED, (lines) => `… ${lines} lines left out${where}`);
  const { code, timedOut, confined, durationMs } = result;
  const facts = { code, output: shown.text, timedOut, confined, durationMs, timeoutMs };
  if (shown.leftOut === 0) return { ...facts, cut: result.cut };
  return { ...facts, cut: true, ...(outputs === undefined ? {} : { whole: await outputs.keep(by, all) }) };
}

async function optionsOf(workspace: Workspace, tree: TreeAccess, cwd: string | undefined): Promise<ProgramStart> {
  const { sandbox, network, requireConfinement } = workspace;
  const { root, readOnlyTree, writable } = tree;
  return {
    root,
    cwd: await workingDirectory(root, cwd),
    readOnlyTree,
    writable,
    readable: borrowedBy(sandbox),
    carried: sandbox.carried,
    network,
    requireConfinement,
    commands: sandbox.commands,
    outputLimit: KEPT,
  };
}

/** A command that could not write is told why. */
function besideNote({ code, output }: { readonly code: number; readonly output: string }, beside: string): string {
  if (code === 0 || !/read-only file system|EROFS/i.test(output)) return "";
  return `[files are read-only for other commands while the background command ${beside} may change them: end it with command_stop, or start it with read_only: true. File tools can write]\n`;
}

function shellText({ code, output, timedOut, durationMs, timeoutMs }: ShellOutput): string {
  const took = durationMs === undefined ? "" : ` (took ${seconds(durationMs)})`;
  const end = timedOut
    ? `killed after ${seconds(timeoutMs ?? durationMs ?? 0)} (timeout_ms)`
    : `exit code ${code}${took}`;
  return `${end}\n${output === "" ? "(no output)" : output}`;
}

function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 100) / 10} s`;
}
