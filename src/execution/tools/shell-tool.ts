import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { relativePathProblem } from "../../domain/change-entry.ts";
import { AgentsError } from "../../domain/errors.ts";
import { canConfine, confined } from "../bubblewrap.ts";
import { requireDirectory } from "../contained-directories.ts";
import { refused } from "../contained-path.ts";
import { endGroup } from "../process-group.ts";
import { tool, type Tool } from "../tool.ts";

const OUTPUT_LIMIT = 256 * 1024;

/** A command in the sandbox. It has the sandbox to itself; what it changed is found by looking before and after. */
export const SHELL_TOOL: Tool = tool({
  name: "shell_execute",
  description: "Run a shell command in the sandbox",
  writes: true,
  parameters: z.strictObject({
    command: z.string().min(1),
    cwd: z.string().optional(),
    timeout_ms: z.int().min(1).max(3_600_000).default(600_000),
  }),
  run: async ({ command, cwd, timeout_ms: timeoutMs }, { workspace, by, signal }) => {
    const problem = cwd === undefined || cwd === "." ? undefined : relativePathProblem(cwd);
    if (cwd !== undefined && problem !== undefined) throw refused(cwd, problem);
    const result = await workspace.capture(by, async (root) => {
      if (cwd !== undefined && cwd !== ".") await requireDirectory(root, cwd);
      const readable = workspace.sandbox.objects === undefined ? [] : [workspace.sandbox.objects];
      return runShell(command, { root, readable, cwd: join(root, cwd ?? "."), timeoutMs, signal });
    });
    if (result.code === 0) return result;
    const why = result.timedOut ? `did not end within ${timeoutMs} ms` : `ended with exit code ${result.code}`;
    throw new AgentsError("tool_failed", `The command ${why}: ${result.output.trim().split("\n").at(-1) ?? ""}`, {
      kept: "What it changed before is recorded.",
      detail: { ...result },
    });
  },
});

/**
 * Runs the command with a watcher beside it that holds the other end of a pipe of ours: when this process dies, however it dies, the
 * pipe closes and the watcher ends the whole group, so that nothing goes on writing into a sandbox somebody else resumes. Confined
 * commands too: bubblewrap asks to die with its parent a moment after it was started, and outlives one that is killed before.
 */
const DIES_WITH_US = '{ read -r _ <&3; kill -s KILL -- -$$; } & exec 3<&-; exec "$@"';

interface ShellResult {
  readonly [key: string]: string | number | boolean;
  readonly code: number;
  readonly output: string;
  readonly cut: boolean;
  readonly timedOut: boolean;
  readonly confined: boolean;
}

async function runShell(
  command: string,
  options: { root: string; readable: readonly string[]; cwd: string; timeoutMs: number; signal: AbortSignal },
): Promise<ShellResult> {
  const { root, readable, cwd, timeoutMs, signal } = options;
  const home = join(root, "..", "home");
  await mkdir(home, { recursive: true });
  const confine = await canConfine();
  const bare = ["sh", "-c", command];
  const line = confine ? confined(bare, { readable, writable: [root, home], cwd, network: false }) : bare;
  const child = spawn("sh", ["-c", DIES_WITH_US, "sh", ...line], {
    cwd,
    env: environment(home),
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  let output = "";
  let cut = false;
  const collect = (chunk: string): void => {
    cut ||= output.length + chunk.length > OUTPUT_LIMIT;
    output = (output + chunk).slice(0, OUTPUT_LIMIT);
  };
  child.stdout?.setEncoding("utf8").on("data", collect);
  child.stderr?.setEncoding("utf8").on("data", collect);
  let timedOut = false;
  // The whole process group goes: a command's children must not go on writing after we have looked.
  const kill = (): void => endGroup(child.pid);
  const timer = setTimeout(() => {
    timedOut = true;
    kill();
  }, timeoutMs);
  signal.addEventListener("abort", kill, { once: true });
  if (signal.aborted) kill();
  try {
    const code = await new Promise<number>((resolve, reject) => {
      child.on("error", reject);
      child.on("exit", kill);
      child.on("close", (exit) => resolve(exit ?? 137));
    });
    return { code, output, cut, timedOut, confined: confine };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", kill);
  }
}

/** What a command needs to run, and nothing that is secret. */
function environment(home: string): NodeJS.ProcessEnv {
  const { PATH, LANG, TZ } = process.env;
  return { PATH, LANG: LANG ?? "C.UTF-8", TZ, HOME: home, TERM: "dumb", GIT_TERMINAL_PROMPT: "0", CI: "1" };
}
