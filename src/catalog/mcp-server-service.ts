import { ConflictError, NotFoundError, UsageError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { scopeKey, type McpScope, type McpServerDefinition } from "../domain/mcp/mcp-server.ts";
import { parseQualifiedName } from "../domain/names/qualified-name.ts";
import { nearest } from "../domain/text/suggest.ts";
import { recordEvent, recordSourceOf, type RecordSource, type ServiceParts } from "../plans/transition.ts";
import type { Store } from "../store/port.ts";
import { deleteMcpServer, findMcpServers, insertMcpServer, type StoredMcpServer } from "../store/tables/mcp-servers.ts";
import { requireProject } from "./project-links.ts";

/**
 * The MCP servers that users defined. The service holds no state; each change is one transaction with its event and its
 * audit entry, and of any number of concurrent callers one adds a name.
 */
export class McpServerService {
  readonly #store: Store;
  readonly #recordSource: RecordSource;

  constructor(parts: ServiceParts) {
    this.#store = parts.store;
    this.#recordSource = recordSourceOf(parts);
  }

  /** Of this project, or of the user; the project must be there. */
  async scopeOf(project: string | undefined): Promise<McpScope> {
    if (project === undefined) return { kind: "user" };
    const { name } = await this.#store.read((reader) => requireProject(reader, project));
    return { kind: "project", project: name };
  }

  /** All of them, or none when one is there already. */
  async addServers(servers: readonly McpServerDefinition[]): Promise<StoredMcpServer[]> {
    return this.#store.transaction(async (tx) => {
      const at = this.#recordSource.clock();
      for (const server of servers) {
        if (!(await insertMcpServer(tx, server, at))) throw takenNameError(server);
        const details = { server: server.name, scope: scopeKey(server.scope), transport: server.transport.kind };
        await recordEvent(tx, this.#recordSource, { type: "mcp_server.added", at, details });
      }
      return servers.map((server) => ({ ...server, createdAt: at }));
    });
  }

  async listServers(): Promise<StoredMcpServer[]> {
    return this.#store.read(findMcpServers);
  }

  /** Without a project: the user's, or else the only one of that name in a project. */
  async getServer(name: string, project?: string): Promise<StoredMcpServer> {
    const all = await this.listServers();
    const scope = project === undefined ? undefined : await this.#scopeAmong(all, project);
    const named = all.filter((one) => one.name.toLowerCase() === name.toLowerCase());
    const fitting = named.filter((one) => scope === undefined || scopeKey(one.scope) === scope);
    const [only, ...others] = fitting;
    const mine = fitting.find((one) => one.scope.kind === "user") ?? (others.length === 0 ? only : undefined);
    if (mine !== undefined) return mine;
    if (fitting.length > 1) throw severalError(name, fitting);
    const suggestion = nearest(
      name,
      all.map((one) => one.name),
    );
    throw new NotFoundError("MCP server", name, {
      ...(suggestion === undefined ? {} : { detail: { suggestion } }),
      next:
        suggestion === undefined
          ? [nextStep("mcp.server.list")]
          : [nextStep("mcp.server.show", { server: suggestion })],
    });
  }

  /** A server outlives its project, and is still found by the project's name. */
  async #scopeAmong(all: readonly StoredMcpServer[], project: string): Promise<string> {
    const scope = scopeKey({ kind: "project", project: parseQualifiedName(project, "project") });
    return all.some((one) => scopeKey(one.scope) === scope) ? scope : scopeKey(await this.scopeOf(project));
  }

  async removeServer({ name, scope }: Pick<McpServerDefinition, "name" | "scope">): Promise<void> {
    await this.#store.transaction(async (tx) => {
      if (!(await deleteMcpServer(tx, scope, name)))
        throw new NotFoundError("MCP server", name, { next: [nextStep("mcp.server.list")] });
      const details = { server: name, scope: scopeKey(scope) };
      const at = this.#recordSource.clock();
      await recordEvent(tx, this.#recordSource, { type: "mcp_server.removed", at, details });
    });
  }
}

function takenNameError({ name, scope }: McpServerDefinition): ConflictError {
  const where = scope.kind === "user" ? "" : ` in the project ${scope.project}`;
  const project = scope.kind === "user" ? {} : { project: scope.project };
  return new ConflictError(
    `There is already an MCP server "${name}"${where}.`,
    { expected: "no such server", actual: name, code: "already_exists" },
    {
      kept: "Nothing was written, and the server that is there was not changed.",
      next: [
        nextStep("mcp.server.show", { server: name, ...project }),
        nextStep("mcp.server.remove", { server: name, ...project }),
      ],
    },
  );
}

function severalError(name: string, found: readonly StoredMcpServer[]): UsageError {
  const projects = found.flatMap(({ scope }) => (scope.kind === "project" ? [scope.project] : []));
  return new UsageError(`Several projects have an MCP server "${name}": ${projects.join(", ")}.`, {
    kept: "Nothing was changed.",
    next: [{ text: "repeat the command with --project" }],
    detail: { projects },
  });
}
