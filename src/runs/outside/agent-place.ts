/**
 * The place in which an outside agent works: the plan's sandboxes, a home beside the first one that is made for each
 * process of it and holds nothing of the user's, and a network in which only the gateway can be reached.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { openGateway, type Gateway, type GatewayOptions } from "../../actors/gateway/gateway-server.ts";
import type { AgentPipes, AgentProgram } from "../../actors/outside/agent-port.ts";
import { findConfinement } from "../../confinement/confinement.ts";
import { CommandNetwork } from "../../confinement/network/command-network.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { notInPlaceError } from "../../execution/sandbox/in-place-sandbox.ts";
import { borrowedBy, startPiped, type PipedProgram } from "../../execution/tools/shell.ts";
import type { HostedFiles, Workspace } from "../../execution/workspace/workspace.ts";
import { removeTree } from "../../platform/remove-tree.ts";

/** Beside the tree. */
const HOME = "agent-home";

export class AgentPlace {
  readonly #workspaces: readonly Workspace[];
  readonly #main: Workspace;
  #program: PipedProgram | undefined;

  constructor(workspaces: ReadonlyMap<string, Workspace>) {
    this.#workspaces = [...workspaces.values()];
    const main = this.#workspaces.find(({ sandbox }) => !sandbox.readOnly);
    if (main === undefined) throw nothingToWriteError();
    this.#main = main;
  }

  /** Lets the agent have all files that it may change, one workspace after the other in their fixed order. */
  async hosting<T>(by: string, run: (files: readonly HostedFiles[]) => Promise<T>): Promise<T> {
    const place = this.#workspaces.find(({ worksInPlace }) => worksInPlace);
    if (place !== undefined) throw notInPlaceError(`The step "${by}"`, place.sandbox);
    const own = this.#workspaces.filter(({ sandbox }) => !sandbox.readOnly);
    const nested = (files: readonly HostedFiles[]): Promise<T> => {
      const next = own[files.length];
      return next === undefined ? run(files) : next.host(by, (one) => nested([...files, one]));
    };
    return nested([]);
  }

  get home(): string {
    return join(dirname(this.#main.sandbox.root), HOME);
  }

  get cwd(): string {
    return this.#main.sandbox.root;
  }

  /** Further directories of the plan. */
  get directories(): readonly string[] {
    return this.#workspaces.filter((one) => one !== this.#main).map(({ sandbox }) => sandbox.root);
  }

  /** A gateway that the agent reaches, and through which alone it reaches anything. */
  async gateway(options: GatewayOptions): Promise<Gateway> {
    const { network } = this.#main;
    const found = await findConfinement();
    if (found.kind === "none" || !(network instanceof CommandNetwork)) return openGateway(options);
    // Without the loader the first process of the namespace is not on record, and nothing could be stopped.
    if (found.backend.loader === undefined) throw noRoomError();
    await network.share();
    const where = await network.place();
    if (where === "open") return openGateway(options);
    if (where === "none") throw noRoomError();
    const { server } = await where.listen();
    return openGateway({ ...options, socket: server });
  }

  async start(program: AgentProgram): Promise<AgentPipes> {
    const { home, cwd } = this;
    const [first] = this.#workspaces;
    const { network, requireConfinement, sandbox } = this.#main;
    await removeTree(home);
    await mkdir(home, { recursive: true, mode: 0o700 });
    for (const [path, text] of Object.entries(program.files)) {
      await mkdir(dirname(join(home, path)), { recursive: true });
      await writeFile(join(home, path), text, { mode: 0o600 });
    }
    const others = this.#workspaces.filter((one) => one !== this.#main).map((one) => one.sandbox);
    const piped = await startPiped(program.command, {
      root: cwd,
      cwd,
      home,
      environment: { ...program.environment, TMPDIR: "/tmp" },
      network,
      requireConfinement,
      readable: [
        ...program.readable,
        ...this.#workspaces.flatMap((one) => borrowedBy(one.sandbox)),
        ...others.filter(({ readOnly }) => readOnly).map(({ root }) => root),
      ],
      writable: others.filter(({ readOnly }) => !readOnly).map(({ root }) => root),
      ...(sandbox.carried === undefined ? {} : { carried: sandbox.carried }),
      // The process that takes over opens this one first, and ends what it finds there before it touches any file.
      commands: first?.sandbox.commands,
    });
    this.#program = piped;
    return pipesOf(piped);
  }

  /** Ends everything of the agent, and waits until nothing of it is left. */
  async end(): Promise<void> {
    this.#program?.kill();
    await this.#program?.ended;
  }

  kill(): void {
    this.#program?.kill();
  }

  async pause(): Promise<() => void> {
    return (await this.#program?.pause()) ?? (() => undefined);
  }

  running(): ReadonlySet<string> {
    return this.#program?.running() ?? new Set();
  }
}

function pipesOf(program: PipedProgram): AgentPipes {
  const { stdin, stdout, stderr } = program.child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("an agent was started without its streams");
  // One that has ended reads no more.
  stdin.on("error", () => undefined);
  return {
    input: stdin,
    output: stdout,
    errors: stderr,
    ended: program.ended.then((code) => ({ code })),
    kill: () => program.kill(),
  };
}

function nothingToWriteError(): AgentsError {
  return new AgentsError(
    "policy",
    "Every resource of the plan is read-only, and an outside agent needs one to work in.",
    {
      kept: "The plan stays as it is.",
    },
  );
}

function noRoomError(): AgentsError {
  return new AgentsError("confinement_missing", "Nothing here can confine an outside agent with a way to its model.", {
    kept: "It was not started.",
    next: [nextStep("diagnostics")],
  });
}
