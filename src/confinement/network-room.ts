/**
 * A network namespace that several commands share: those of one sandbox reach each other's servers on 127.0.0.1, and
 * nothing else. It is held by a process that waits for us to end; a command is started in it by util-linux's `nsenter`,
 * and then confined as always. Whether that works here is tried with a real command.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { readlinkSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Server } from "node:net";
import { AgentsError } from "../domain/errors/errors.ts";
import { findProgram } from "../platform/programs.ts";
import type { ConfinementBackend, Launch } from "./backend.ts";
import { LOADER_PATH } from "./backend.ts";
import { attempted, findConfinement } from "./confinement.ts";
import { listOfCalls, must } from "./kernel-calls.ts";
import { loopback, USER_NAMESPACE } from "./namespaces.ts";

/** Says its number, and ends when our end of the pipe closes. */
const HOLD = ["/bin/sh", "-c", "echo $$; read -r _"];

/**
 * Stays until the server has arrived: a process that ends at once may be gone before its message is read. That we are
 * gone is not always told while the server is on its way, so it is asked too.
 */
const LISTEN = [
  "const s=require('net').createServer().listen(0,'127.0.0.1',()=>process.send(s.address().port,s))",
  "process.on('disconnect',()=>process.exit())",
  "setInterval(()=>process.connected||process.exit(),200)",
].join(";");

export class NetworkRoom implements AsyncDisposable {
  readonly #holder: ChildProcess;
  readonly #enter: readonly string[];
  readonly #nsenter: string;

  private constructor(holder: ChildProcess, pid: number, nsenter: string) {
    this.#holder = holder;
    this.#nsenter = nsenter;
    const own = readlinkSync("/proc/self/ns/user") === readlinkSync(`/proc/${pid}/ns/user`);
    // Also an ordinary user may enter: the namespace of users was made by the same one.
    const user = own ? [] : [`--user=/proc/${pid}/ns/user`, "--preserve-credentials"];
    this.#enter = [...user, `--net=/proc/${pid}/ns/net`, "--"];
  }

  /** Undefined where no command can be started in one. */
  static async open(): Promise<NetworkRoom | undefined> {
    const found = await findConfinement();
    const nsenter = findProgram("nsenter");
    if (found.kind === "none" || found.kind === "seatbelt" || nsenter === undefined) return undefined;
    for (const launch of holders(found.backend)) {
      const holder = hold(launch);
      const pid = await saidNumber(holder);
      if (pid !== undefined) {
        const room = new NetworkRoom(holder, pid, nsenter);
        if (await room.#works(found.backend)) return room;
      }
      holder.kill("SIGKILL");
    }
    return undefined;
  }

  /** The same, started in the room. */
  entered(launch: Launch): Launch {
    return { ...launch, program: this.#nsenter, args: [...this.#enter, launch.program, ...launch.args] };
  }

  /** A server of this process on 127.0.0.1 of the room: the socket is made there and handed over. */
  async listen(): Promise<{ readonly server: Server; readonly port: number }> {
    const child = spawn(this.#nsenter, [...this.#enter, process.execPath, "-e", LISTEN], {
      env: {},
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    return new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("exit", (code) => reject(noServerError(code)));
      child.on("message", (port, server) => {
        resolve({ server: server as Server, port: Number(port) });
        child.disconnect();
      });
    });
  }

  async #works(backend: ConfinementBackend): Promise<boolean> {
    const view = { readable: [], writable: [], hidden: [], cwd: "/", network: "room" as const };
    const program = { command: ["/bin/sh", "-c", ":"], environment: {}, recorded: false };
    return (await attempted(this.entered(backend.start(program, view)))).code === 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#holder.kill("SIGKILL");
  }
}

function noServerError(code: number | null): AgentsError {
  return new AgentsError("tool_failed", `No server can be made in the network of the commands (exit code ${code}).`, {
    kept: "No command was run.",
  });
}

/** The ways to make one, in the order in which they are tried. */
function holders({ kind, loader }: ConfinementBackend): Launch[] {
  const [bwrap, unshare] = ["bwrap", "unshare"].map((name) => findProgram(name));
  const root = process.getuid?.() === 0;
  const byBubblewrap =
    kind !== "bubblewrap" || bwrap === undefined
      ? []
      : [{ program: bwrap, args: ["--dev-bind", "/", "/", "--unshare-net", "--", ...HOLD], environment: {} }];
  if (unshare === undefined || loader === undefined) return byBubblewrap;
  const [shell = ""] = HOLD;
  const calls = listOfCalls([...loopback(), must("execve", [shell, HOLD, []], "")]);
  const ways = root ? [[], USER_NAMESPACE] : [USER_NAMESPACE];
  return [
    ...byBubblewrap,
    ...ways.map((user) => ({
      program: unshare,
      args: [...user, "--net", LOADER_PATH],
      environment: {},
      loaded: { calls, descriptor: loader },
    })),
  ];
}

function hold({ program, args, environment, loaded }: Launch): ChildProcess {
  const given = loaded === undefined ? [] : (["ignore", "pipe", loaded.descriptor] as const);
  const child = spawn(program, args, {
    cwd: "/",
    env: { ...environment },
    stdio: ["pipe", "pipe", "ignore", ...given],
  });
  const list = child.stdio[4];
  if (loaded !== undefined && list != null && "end" in list) list.on("error", () => undefined).end(loaded.calls);
  child.stdin?.on("error", () => undefined);
  child.unref();
  return child;
}

async function saidNumber(child: ChildProcess): Promise<number | undefined> {
  if (child.stdout === null) return undefined;
  const lines = createInterface({ input: child.stdout });
  const said = await new Promise<string | undefined>((resolve) => {
    lines.once("line", resolve);
    lines.once("close", () => resolve(undefined));
    child.once("error", () => resolve(undefined));
  });
  return said === undefined ? undefined : Number(said);
}
