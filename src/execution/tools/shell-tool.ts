/**
 * A command in the sandbox. It has the sandbox to itself; its changes are found by comparing the files before and
 * after.
 */
import * as z from "zod";
import { AgentsError } from "../../domain/errors/errors.ts";
import { borrowedBy, failureOf, runShell, workingDirectory } from "./shell.ts";
import { tool, type Tool } from "./tool.ts";

export const SHELL_TOOL: Tool = tool({
  name: "shell_execute",
  description: "Run a shell command in the sandbox",
  writes: true,
  compared: true,
  parameters: z.strictObject({
    command: z.string().min(1),
    cwd: z.string().optional(),
    timeout_ms: z.int().min(1).max(3_600_000).default(600_000),
  }),
  run: async ({ command, cwd, timeout_ms: timeoutMs }, { workspace, by, signal }) => {
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
        keep: "start",
      }),
    );
    const failure = failureOf(result, timeoutMs);
    if (failure === undefined) return result;
    throw new AgentsError("tool_failed", `The command ${failure}: ${result.output.trim().split("\n").at(-1) ?? ""}`, {
      kept: "What it changed before is recorded.",
      detail: { ...result },
    });
  },
});
