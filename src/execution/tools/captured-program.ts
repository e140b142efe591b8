/**
 * A program that has the sandbox to itself: its changes are found by comparing the files before and after. It returns
 * for every exit code, with the output as its caller may see it: masked, cut, and kept as a whole where it is long.
 */
import { maskedText } from "../../platform/masking.ts";
import type { TreeAccess, Workspace } from "../workspace/workspace.ts";
import { outputPath } from "./call-outputs.ts";
import { cutText } from "./cut-text.ts";
import { borrowedBy, runProgram, workingDirectory, type ProgramResult, type ProgramStart } from "./shell.ts";
import type { ToolCall } from "./tool.ts";

/** Characters of an output that a model is shown at once. */
const SHOWN_TO_MODELS = 30_000;
/** Characters that are recorded for a program. */
const RECORDED = 256 * 1024;
/** Characters that are kept to be read in parts. */
const KEPT = 10 * 1024 * 1024;

export type ProgramOutcome = {
  readonly code: number;
  readonly output: string;
  readonly cut: boolean;
  readonly timedOut: boolean;
  readonly confined: boolean;
  readonly durationMs: number;
  readonly timeoutMs: number;
  /** Its errors, where they are apart. */
  readonly errors?: string;
  /** The hash of the whole output, when `output` is only a part of it. */
  readonly whole?: string;
};

export interface CapturedProgram {
  /** The program by its absolute path, and its arguments. */
  readonly command: readonly string[];
  readonly cwd: string | undefined;
  readonly timeoutMs: number;
  /** It may not change files. */
  readonly readOnly: boolean;
  /** For a command of a shell: says in its output which processes ended with it. */
  readonly tellsLeftovers?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
  /** Its standard input. */
  readonly input?: string;
  /** Its errors are not part of its output. */
  readonly errorsApart?: boolean;
}

export async function runCaptured(program: CapturedProgram, call: ToolCall): Promise<ProgramOutcome> {
  const { command, cwd, timeoutMs, readOnly, ...given } = program;
  const { workspace, by, signal } = call;
  const result = await workspace.capture(by, async (tree) => {
    const access = readOnly && !tree.readOnlyTree ? { ...tree, readOnlyTree: true } : tree;
    const options = await programStart(workspace, access, cwd);
    const ran = await runProgram(command, { ...options, ...given, timeoutMs, signal });
    return tree.beside === undefined ? ran : { ...ran, output: `${ran.output}${besideNote(ran, tree.beside)}` };
  });
  // A command that was ended because its plan was stopped says nothing about itself.
  signal.throwIfAborted();
  return { ...(await shownOutput(result, call)), timeoutMs };
}

/** The result with as much of the output as the caller is shown. */
export async function shownOutput(
  { code, output, errors, cut, timedOut, confined, durationMs }: ProgramResult,
  { by, forModel, outputs }: Pick<ToolCall, "by" | "forModel" | "outputs">,
): Promise<Omit<ProgramOutcome, "timeoutMs">> {
  // Masked as a whole: a key of several lines is not recognized in parts.
  const all = maskedText(output.replaceAll("\0", "\u{FFFD}").toWellFormed());
  const where = outputs === undefined ? "" : `; read them with read_file ${outputPath(by)}`;
  const shown = cutText(all, forModel ? SHOWN_TO_MODELS : RECORDED, (lines) => `… ${lines} lines left out${where}`);
  const apart = errors === undefined ? {} : { errors: maskedText(errors.replaceAll("\0", "\u{FFFD}").toWellFormed()) };
  const facts = { code, output: shown.text, timedOut, confined, durationMs, ...apart };
  if (shown.leftOut === 0) return { ...facts, cut };
  return { ...facts, cut: true, ...(outputs === undefined ? {} : { whole: await outputs.keep(by, all) }) };
}

export async function programStart(
  workspace: Workspace,
  tree: TreeAccess,
  cwd: string | undefined,
): Promise<ProgramStart> {
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

export function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 100) / 10} s`;
}
