/**
 * Starts the program of an MCP server. One that the user added has the user's rights, and an environment with nothing
 * in it but what every program needs and what its definition names. A confined one sees what a command of the plan
 * sees. Both end with this process, however it ends.
 */
import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { ServerProcess } from "../../actors/mcp/process-transport.ts";
import { startLaunched } from "../../confinement/start.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import type { Environment } from "../../domain/values/environment.ts";
import { borrowedBy, startPiped, type PipedProgram } from "../../execution/tools/shell.ts";
import type { TreeAccess, Workspace } from "../../execution/workspace/workspace.ts";
import { endGroup } from "../../platform/process-group.ts";
import { searchPath } from "../../platform/programs.ts";
import type { FilledTransport } from "./plan-server.ts";

export type FilledProgram = Extract<FilledTransport, { kind: "stdio" }>;

const USUAL = ["HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "SHELL", "TMPDIR", "TZ", "USER"];

/** With the user's rights. */
export function startWithUsersRights(program: FilledProgram, user: Environment): ServerProcess {
  const usual = Object.fromEntries(USUAL.flatMap((name) => (user[name] === undefined ? [] : [[name, user[name]]])));
  const environment = { ...usual, PATH: searchPath(user["PATH"]), TERM: "dumb", ...program.environment };
  const [name = "", ...args] = program.command;
  const launch = { program: name, args, environment };
  const child = startLaunched(launch, {
    cwd: program.cwd ?? user["HOME"] ?? homedir(),
    record: undefined,
    input: "pipe",
  });
  const ended = new Promise<number>((resolve) => {
    child.on("error", () => resolve(127));
    child.on("close", (code) => resolve(code ?? 137));
  });
  return serverProcess({ child, ended, kill: () => endGroup(child.pid) });
}

/** Where a confined server runs without a plan's sandbox: it sees the directory, and can write only into its home. */
export interface OutsidePlace {
  /** Its own directory in the data directory. */
  readonly own: string;
  readonly directory: string;
  readonly network: boolean;
  readonly requireConfinement: boolean;
}

export async function startConfined(program: FilledProgram, place: OutsidePlace): Promise<ServerProcess> {
  const root = join(place.own, "tree");
  await mkdir(root, { recursive: true, mode: 0o700 });
  return serverProcess(
    await startPiped(throughShell(program.command), {
      root,
      readOnlyTree: true,
      readable: [place.directory],
      cwd: program.cwd ?? place.directory,
      environment: program.environment,
      network: place.network,
      requireConfinement: place.requireConfinement,
    }),
  );
}

/** In the plan's sandbox, with the files as `tree` says. */
export async function startInSandbox(
  program: FilledProgram,
  { sandbox, network, requireConfinement }: Workspace,
  { root, readOnlyTree, writable }: Omit<TreeAccess, "beside">,
): Promise<ServerProcess> {
  return serverProcess(
    await startPiped(throughShell(program.command), {
      root,
      readOnlyTree,
      writable,
      readable: borrowedBy(sandbox),
      carried: sandbox.carried,
      cwd: program.cwd ?? root,
      environment: program.environment,
      network,
      requireConfinement,
      commands: readOnlyTree ? undefined : sandbox.commands,
    }),
  );
}

/** The shell finds the program in the PATH that it will have. */
function throughShell(command: readonly string[]): readonly string[] {
  return ["/bin/sh", "-c", 'exec "$@"', "sh", ...command];
}

function serverProcess(program: Pick<PipedProgram, "child" | "ended" | "kill">): ServerProcess {
  const { stdin, stdout, stderr, pid } = program.child;
  if (stdin === null || stdout === null || stderr === null)
    throw new AgentsError("tool_failed", "The program of the MCP server could not be started.");
  return { stdin, stdout, stderr, pid, ended: program.ended, kill: () => program.kill() };
}
