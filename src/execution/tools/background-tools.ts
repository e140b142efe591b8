/**
 * Commands in the background: how they are started, and the tools that look at them and end them. Each of these calls
 * also has the changes of the command recorded that it made so far.
 */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { AgentsError } from "../../domain/errors/errors.ts";
import { findConfinement } from "../../confinement/confinement.ts";
import { maskedText } from "../../platform/masking.ts";
import { BackgroundCommand } from "../workspace/background-commands.ts";
import type { TreeAccess, Workspace } from "../workspace/workspace.ts";
import { cutText } from "./cut-text.ts";
import { startProgram, type ProgramStart } from "./shell.ts";
import { tool, type BuiltInTool, type ToolCall } from "./tool.ts";

/** Characters of what was printed that are shown at a time. */
const SHOWN = 30_000;

export type BackgroundOutput = {
  readonly background: string;
  readonly running: boolean;
  readonly command: string;
  /** Printed since it was asked for last. */
  readonly output: string;
  readonly durationMs: number;
  readonly code?: number;
  /** Why it was ended, or why it never began. */
  readonly problem?: string;
  /** It may not change files, because another command in the background may. */
  readonly readOnlyBeside?: string;
};

export async function startInBackground(
  command: string,
  { workspace, by, signal }: ToolCall,
  readOnly: boolean,
  options: (tree: TreeAccess) => Promise<ProgramStart>,
): Promise<BackgroundOutput> {
  await requireNamespaces();
  let beside: string | undefined;
  const started = await workspace.startBackground(by, { readOnly }, async (tree) => {
    beside = readOnly ? undefined : tree.beside;
    const program = await startProgram(["/bin/sh", "-c", command], await options(tree));
    return new BackgroundCommand({ id: by, command, program });
  });
  // When the plan is stopped, so is everything that it runs.
  signal.addEventListener("abort", () => started.program.kill(), { once: true });
  if (signal.aborted) started.program.kill();
  return { ...factsOf(started), ...(beside === undefined ? {} : { readOnlyBeside: beside }) };
}

/** Only in namespaces can everything that a command started be stopped for a moment, and ended for certain. */
async function requireNamespaces(): Promise<void> {
  const found = await findConfinement();
  // Without the loader the first process of the namespace is not on record.
  if (found.kind !== "none" && found.backend.loader !== undefined) return;
  throw new AgentsError("tool_failed", "Nothing here can keep a command in the background under control.", {
    kept: "It was not run.",
  });
}

export function startedText({ background, readOnlyBeside }: BackgroundOutput): string {
  const beside =
    readOnlyBeside === undefined ? "" : ` It may not change files, because ${readOnlyBeside} may: one at a time.`;
  return `started in the background, with the id ${background}.${beside} See what it prints with command_output, end it with command_stop; it ends when this step ends.`;
}

const ID = z.string().min(1).describe("the id that shell_execute returned");

const OUTPUT_TOOL: BuiltInTool = tool({
  name: "command_output",
  description: "See what a command in the background printed since you last asked, and whether it still runs",
  writes: true,
  compared: true,
  parameters: z.strictObject({
    id: ID,
    wait_ms: z.int().min(0).max(600_000).default(0).describe("wait this long, or until it ends"),
  }),
  text: shownText,
  run: async ({ id, wait_ms: waitMs }, call) => {
    const command = requireCommand(call.workspace, id);
    const over = new AbortController();
    const waited = sleep(waitMs, undefined, { signal: AbortSignal.any([call.signal, over.signal]) });
    await Promise.race([command.ended, waited.catch(() => undefined)]);
    over.abort();
    call.signal.throwIfAborted();
    return seen(command, call);
  },
});

const STOP_TOOL: BuiltInTool = tool({
  name: "command_stop",
  description: "End a command in the background with all its processes, and see what it printed since you last asked",
  writes: true,
  compared: true,
  parameters: z.strictObject({ id: ID }),
  text: shownText,
  run: async ({ id }, call) => {
    const command = requireCommand(call.workspace, id);
    await command.stop("you stopped it");
    return seen(command, call);
  },
});

export const BACKGROUND_TOOLS: readonly BuiltInTool[] = [OUTPUT_TOOL, STOP_TOOL];

function requireCommand({ background }: Workspace, id: string): BackgroundCommand {
  const found = background?.get(id);
  if (found !== undefined) return found;
  throw new AgentsError(
    "tool_failed",
    `No background command ${JSON.stringify(id)} runs here: it ended with its step, or with the process that ran it. Start it again if you need it.`,
  );
}

async function seen(command: BackgroundCommand, { workspace, by }: ToolCall): Promise<BackgroundOutput> {
  await workspace.settleBackground(by);
  return factsOf(command);
}

function factsOf(one: BackgroundCommand): BackgroundOutput {
  const { id, command, program, end, stopped, started } = one;
  const { text } = program.taken();
  const why = end !== undefined && "code" in end && end.code !== 0 ? program.explain(text) : undefined;
  const note = [why, program.refusals()].filter((line) => line !== undefined).join("\n");
  const all = maskedText(text.replaceAll("\0", "\u{FFFD}").toWellFormed());
  const shown = cutText(all, SHOWN, (lines) => `… ${lines} lines left out`).text;
  const problem = end !== undefined && "failed" in end ? end.failed : stopped;
  return {
    background: id,
    running: end === undefined,
    command,
    output: note === "" ? shown : `${shown.trimEnd()}\n${note}\n`,
    durationMs: Math.round(performance.now() - started),
    ...(end !== undefined && "code" in end ? { code: end.code } : {}),
    ...(problem === undefined ? {} : { problem }),
  };
}

function shownText({ running, output, durationMs, code, problem }: BackgroundOutput): string {
  const state = running ? `running for ${Math.round(durationMs / 100) / 10} s` : `ended with exit code ${code ?? "?"}`;
  const head = problem === undefined ? state : `ended: ${problem}`;
  return `${head}\n${output === "" ? "(no new output)" : output}`;
}
