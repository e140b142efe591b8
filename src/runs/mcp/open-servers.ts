/**
 * The servers of one plan, and their connections in this process. The rule of where the program of a server runs is
 * here: with the user's rights if the user added it, who chose it like an editor or a model; confined if a repository
 * brought it or its definition says so; in the plan's sandbox, for one call at a time, if it works on its files.
 */
import { join } from "node:path";
import { ConnectionPool } from "../../actors/mcp/connection-pool.ts";
import { connect, type McpConnection, type ServerAddress } from "../../actors/mcp/mcp-connection.ts";
import { renewingFetch } from "../../actors/mcp/login-renewal.ts";
import { keptProvider } from "../../actors/mcp/server-login.ts";
import { serverFetch } from "../../actors/mcp/server-fetch.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { WORKSPACE } from "../../domain/mcp/mcp-server.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import type { Environment } from "../../domain/values/environment.ts";
import type { AskedCall } from "../../execution/tools/tool.ts";
import type { Workspace } from "../../execution/workspace/workspace.ts";
import { alsoMasking } from "../../platform/masking.ts";
import {
  filledTransport,
  loginError,
  loginStep,
  serverKey,
  type FilledTransport,
  type PlanServer,
} from "./plan-server.ts";
import { startConfined, startInSandbox, startWithUsersRights, type FilledProgram } from "./server-process.ts";

export interface McpServersParts {
  /** All servers of the plan, the strongest of one name alone. */
  readonly servers: () => Promise<readonly PlanServer[]>;
  readonly profile: Pick<Plan["profile"], "network" | "requireConfinement">;
  /** The directory that a confined server sees where there is no sandbox. */
  readonly directory: string;
  /** Below it confined servers have their homes. */
  readonly homes: string;
  readonly environment: Environment;
  readonly version: string;
  /** Ends everything that is under way. */
  readonly signal: AbortSignal;
}

export class McpServers implements AsyncDisposable {
  readonly #parts: McpServersParts;
  readonly #pool = new ConnectionPool();
  #known: Promise<readonly PlanServer[]> | undefined;

  constructor(parts: McpServersParts) {
    this.#parts = parts;
  }

  ofPlan(): Promise<readonly PlanServer[]> {
    this.#known ??= this.#parts.servers();
    return this.#known;
  }

  async named({ server, scope }: { readonly server: string; readonly scope: string }): Promise<PlanServer> {
    const all = await this.ofPlan();
    const found = all.find((one) => one.definition.name === server && serverKey(one) === scope);
    if (found !== undefined) return found;
    throw new AgentsError("tool_failed", `The MCP server "${server}" is not there any more.`, {
      next: [nextStep("mcp.server.list")],
    });
  }

  /** The values of the server that must not appear in anything that is recorded. */
  maskedOf(server: PlanServer): readonly string[] {
    return this.#filled(server).masked;
  }

  placeOf({ definition, repository }: PlanServer): "outside" | "confined" | "sandbox" {
    if (definition.transport.kind === "http") return "outside";
    if (definition.worksIn === "sandbox") return "sandbox";
    return definition.confined || repository !== undefined ? "confined" : "outside";
  }

  /** Asks a server about itself, without a sandbox. One that works in sandboxes ends after it. */
  async listing<T>(
    server: PlanServer,
    use: (connection: McpConnection, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { signal } = this.#parts;
    return alsoMasking(this.#filled(server).masked, async () => {
      const shared = this.placeOf(server) === "outside";
      if (shared) return use(await this.connection(server, signal, undefined), signal);
      await using connection = await this.#open(server, signal, undefined);
      return await use(connection, signal);
    });
  }

  /** The shared connection; of a confined server, one for each sandbox. */
  connection(server: PlanServer, signal: AbortSignal, workspace: Workspace | undefined): Promise<McpConnection> {
    const root = workspace === undefined || this.placeOf(server) === "outside" ? "" : workspace.sandbox.root;
    const key = JSON.stringify([serverKey(server), server.definition.name, root]);
    return this.#pool.connection(key, signal, (ending) => this.#open(server, ending, workspace));
  }

  /** Runs the server in the sandbox for one call. Nothing else runs there meanwhile, and its changes are recorded. */
  async inSandbox<T>(
    server: PlanServer,
    workspace: Workspace,
    { by, signal }: Pick<AskedCall, "by" | "signal">,
    use: (connection: McpConnection) => Promise<T>,
  ): Promise<T> {
    return workspace.capture(by, async (tree) => {
      const program = this.#filled(server, tree.root);
      if (program.kind === "http") throw new Error("a server that works in sandboxes is a program");
      const start: ServerAddress = { kind: "stdio", start: () => startInSandbox(program, workspace, tree) };
      await using connection = await connect(start, this.#options(server, signal));
      return await use(connection);
    });
  }

  async #open(server: PlanServer, signal: AbortSignal, workspace: Workspace | undefined): Promise<McpConnection> {
    const sandboxed = workspace !== undefined && !workspace.worksInPlace && this.placeOf(server) === "confined";
    const filled = this.#filled(server, sandboxed ? workspace.sandbox.root : undefined);
    const options = this.#options(server, signal);
    if (filled.kind === "http") {
      this.#requireNetwork(server, filled);
      const send = await serverFetch(filled.url);
      const fetch = server.login === undefined ? send : renewingFetch(send, server.login);
      const login = server.login === undefined ? undefined : keptProvider(server.login, () => loginError(server));
      return connect({ kind: "http", url: filled.url, headers: filled.headers, fetch, login }, options);
    }
    return connect({ kind: "stdio", start: () => this.#start(server, filled, workspace) }, options);
  }

  async #start(
    server: PlanServer,
    program: FilledProgram,
    workspace: Workspace | undefined,
  ): ReturnType<typeof startConfined> {
    const { environment, homes, profile, directory } = this.#parts;
    if (this.placeOf(server) === "outside") return startWithUsersRights(program, environment);
    if (workspace !== undefined && !workspace.worksInPlace) {
      const { root } = workspace.sandbox;
      return startInSandbox(program, workspace, { root, readOnlyTree: true, writable: [] });
    }
    return startConfined(program, {
      own: join(homes, server.definition.name.toLowerCase()),
      directory: server.repository ?? directory,
      network: profile.network === "on",
      requireConfinement: profile.requireConfinement,
    });
  }

  /** A repository may not choose to which place on the internet a plan without network talks. */
  #requireNetwork({ definition, repository }: PlanServer, { url }: { readonly url: string }): void {
    if (repository === undefined || this.#parts.profile.network === "on") return;
    throw new AgentsError(
      "tool_failed",
      `The MCP server "${definition.name}" of the repository is at ${new URL(url).host}, and the plan's profile does not allow the network.`,
      { next: [{ text: `add it yourself: agents mcp server add ${definition.name} --url ${url}` }] },
    );
  }

  /** In the directory that it sees: a sandbox, or the resource. */
  #filled(server: PlanServer, root?: string): FilledTransport {
    const { environment, directory } = this.#parts;
    return filledTransport(server, { ...environment, [WORKSPACE]: root ?? server.repository ?? directory });
  }

  #options(server: PlanServer, signal: AbortSignal): Parameters<typeof connect>[1] {
    const { definition } = server;
    const { version } = this.#parts;
    const loginNext = server.repository === undefined ? [loginStep(definition)] : [];
    return { name: definition.name, version, signal, loginNext };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool[Symbol.asyncDispose]();
  }
}
