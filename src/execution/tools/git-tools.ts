/** The tools that read git's history and status in a sandbox. */
import * as z from "zod";
import { AgentsError } from "../../domain/errors/errors.ts";
import { relativePathProblem } from "../../domain/plan/change-entry.ts";
import { refusedPathError } from "../../platform/contained-path.ts";
import { gitText } from "../../git/git.ts";
import { gitIn, isVersioned } from "../sandbox/sandbox-facts.ts";
import { cutText } from "./cut-text.ts";
import { tool, type BuiltInTool, type ToolCall } from "./tool.ts";

const path = z.string().optional();

/**
 * As an argument: a `.gitmodules` in the tree wins over settings, and git would run the filters of a repository in
 * the tree.
 */
const NO_SUBMODULES = ["--ignore-submodules=all"];
const DIFF = ["diff", "--no-ext-diff", "--no-textconv", "--no-color"];

/**
 * Tools that read the sandbox's history. They ask our repository, which stays at the commit the plan began with:
 * commits that commands make in theirs are not shown.
 */
export const GIT_TOOLS: readonly BuiltInTool[] = [
  tool({
    name: "git_status",
    description: "Show which files differ from the commit the plan began with, new ones included",
    writes: false,
    parameters: z.strictObject({ path }),
    paths: ["path"],
    text: gitOutput,
    run: ({ path }, call) => show(["status", "--short", "--untracked-files=all", ...NO_SUBMODULES], path, call),
  }),
  tool({
    name: "git_diff",
    description: "Show how files differ from the commit the plan began with; git_status also names new ones",
    writes: false,
    parameters: z.strictObject({ path }),
    paths: ["path"],
    text: gitOutput,
    run: ({ path }, call) => show([...DIFF, ...NO_SUBMODULES], path, call),
  }),
  tool({
    name: "git_log",
    description: "Show the newest commits the plan began with, without those that commands made",
    writes: false,
    parameters: z.strictObject({ path, limit: z.int().min(1).max(1000).default(20) }),
    paths: ["path"],
    text: gitOutput,
    run: ({ path, limit }, call) => show(["log", "--oneline", "--no-color", `--max-count=${limit}`], path, call),
  }),
  tool({
    name: "git_blame",
    description: "Show who last changed each line of a file",
    writes: false,
    parameters: z.strictObject({ path: z.string() }),
    paths: ["path"],
    text: gitOutput,
    run: ({ path }, call) => show(["blame", "-s", "--no-textconv"], path, call),
  }),
];

const SHOWN_TO_MODELS = 30_000;

function gitOutput(output: string): string {
  if (output === "") return "(nothing)";
  const shown = cutText(output, SHOWN_TO_MODELS, (lines) => `… ${lines} lines left out; ask for one path at a time`);
  return shown.text;
}

async function show(args: readonly string[], file: string | undefined, { workspace }: ToolCall): Promise<string> {
  const { sandbox } = workspace;
  if (!isVersioned(sandbox))
    throw new AgentsError("tool_failed", `The resource "${sandbox.alias}" is not a git checkout.`);
  const problem = file === undefined || file === "." ? undefined : relativePathProblem(file);
  if (file !== undefined && problem !== undefined) throw refusedPathError(file, problem);
  return gitText([...args, "--", ...(file === undefined ? [] : [`./${file}`])], gitIn(sandbox));
}
