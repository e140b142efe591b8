/**
 * A command in the sandbox. It has the sandbox to itself; its changes are found by comparing the files before and
 * after. It returns for every exit code: a failing test is what the caller wants to read.
 */
import * as z from "zod";
import { maskedText } from "../../platform/masking.ts";
import { outputPath } from "./call-outputs.ts";
import { cutText, lastLines } from "./cut-text.ts";
import { borrowedBy, failureOf, runShell, workingDirectory } from "./shell.ts";
import { tool, type Tool } from "./tool.ts";

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

export const SHELL_TOOL: Tool = tool({
  name: "shell_execute",
  description:
    "Run a shell command in the sandbox and see its exit code and what it printed. Processes left in the background end with it",
  writes: true,
  compared: true,
  parameters: z.strictObject({
    command: z.string().min(1),
    cwd: z.string().optional().describe("directory to run in; the top of the resource unless given"),
    timeout_ms: z.int().min(1).max(3_600_000).default(600_000),
  }),
  paths: ["cwd"],
  text: shellText,
  failure: (result: ShellOutput) => {
    const failure = failureOf(result, result.timeoutMs ?? 0);
    if (failure === undefined) return undefined;
    const said = lastLines(result.output);
    return `The command ${failure}:${said.includes("\n") ? "\n" : " "}${said}`;
  },
  run: async ({ command, cwd, timeout_ms: timeoutMs }, { workspace, by, signal, forModel, outputs }) => {
    const result = await workspace.capture(by, async (root) =>
      runShell(command, {
        root,
        cwd: await workingDirectory(root, cwd),
        timeoutMs,
        signal,
        readable: borrowedBy(workspace.sandbox),
        carried: workspace.sandbox.carried,
        network: workspace.network,
        requireConfinement: workspace.requireConfinement,
        commands: workspace.sandbox.commands,
        outputLimit: KEPT,
      }),
    );
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
  },
});

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
