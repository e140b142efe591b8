/** The MCP servers of a plan or of a single command, with their secrets, ready to be started. */
import { hash } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import { scopeKey, type McpServerDefinition } from "../../domain/mcp/mcp-server.ts";
import { toolTokensOf } from "../../domain/settings/mcp-settings.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import type { Tell } from "../../domain/run-event.ts";
import { DataDirectory } from "../../platform/data-directory.ts";
import { withFileLock } from "../../platform/file-lock.ts";
import {
  removeServerCredentials,
  serverCredentials,
  setServerCredential,
} from "../../platform/settings/credentials.ts";
import { planResources } from "../../plans/in-place-rules.ts";
import type { KeptLogin, LoginStore } from "../../actors/mcp/server-login.ts";
import { McpServers } from "../../runs/mcp/open-servers.ts";
import { McpTools } from "../../runs/mcp/mcp-tools.ts";
import type { PlanServer } from "../../runs/mcp/plan-server.ts";
import type { App } from "../base/app.ts";
import { VERSION } from "../base/package-version.ts";
import { acceptedServers } from "./repository-servers.ts";

/** The place of a server's secrets in the credentials file. */
export function credentialKey({ scope, name }: Pick<McpServerDefinition, "scope" | "name">): string[] {
  return [scopeKey(scope), name.toLowerCase()];
}

/** A server that the user added, with its values of the credentials file. */
export function addedServer(app: App, definition: McpServerDefinition): PlanServer {
  const { dataDir } = app.paths;
  const secrets = Object.fromEntries(serverCredentials(dataDir, [...credentialKey(definition), "value"]));
  const login = definition.transport.kind === "http" ? loginStore(dataDir, definition) : undefined;
  return { definition, repository: undefined, secrets, login };
}

const LOGIN = "login";

/** The login at a server, in the credentials file. */
export interface KeptLogins extends LoginStore {
  /** Whether there was one. */
  forget(): Promise<boolean>;
}

export function loginStore(dataDir: string, definition: McpServerDefinition): KeptLogins {
  const key = credentialKey(definition);
  const lock = join(new DataDirectory(dataDir).mcp, `login-${hash("sha256", key.join("\0"), "hex").slice(0, 16)}.lock`);
  const read = (): KeptLogin | undefined => {
    const text = serverCredentials(dataDir, key).get(LOGIN);
    return text === undefined ? undefined : (JSON.parse(text) as KeptLogin);
  };
  return {
    read,
    change: (change) =>
      withFileLock(lock, async () => {
        const login = await change(read());
        if (login !== undefined) await setServerCredential(dataDir, [...key, LOGIN], JSON.stringify(login));
      }),
    forget: () => withFileLock(lock, () => removeServerCredentials(dataDir, [...key, LOGIN])),
  };
}

/** Of one name the project's server counts, then the user's, then the repository's. */
/** Of several with one name the project's comes first, then the user's; one that a repository brought is told. */
async function serversOfPlan(app: App, plan: Plan, directories: readonly string[], tell: Tell): Promise<PlanServer[]> {
  const projects = new Set(plan.projects.map(({ project }) => project.toLowerCase()));
  const stored = await (await app.mcpServers()).listServers();
  const ofProject = stored.filter(({ scope }) => scope.kind === "project" && projects.has(scope.project.toLowerCase()));
  const ofUser = stored.filter(({ scope }) => scope.kind === "user");
  const added = [...ofProject, ...ofUser].map((definition) => addedServer(app, definition));
  const taken = new Set<string>();
  return [...added, ...acceptedServers(app, directories)].filter(({ definition: { name }, repository }) => {
    const isNew = !taken.has(name.toLowerCase());
    taken.add(name.toLowerCase());
    if (!isNew && repository !== undefined) {
      const text = `The MCP server "${name}" of ${repository} is not used: another one of the plan has its name.`;
      tell({ type: "notice", level: "warning", text });
    }
    return isNew;
  });
}

/** The tools of the plan's servers. Nothing is started before a plan asks for them. */
export async function planMcp(
  app: App,
  plan: Plan,
  { tell, signal }: { readonly tell: Tell; readonly signal: AbortSignal },
): Promise<{ readonly servers: McpServers; readonly tools: McpTools }> {
  const resources = await (await app.store()).read((reader) => planResources(reader, plan));
  const directories = resources.map(({ path }) => path);
  const servers = openServers(app, {
    servers: () => serversOfPlan(app, plan, directories, tell),
    profile: plan.profile,
    directory: directories[0] ?? homedir(),
    signal,
  });
  const tokenLimit = toolTokensOf((await app.setting("mcp.tool-tokens")).value);
  return { servers, tools: new McpTools({ servers, tell, tokenLimit }) };
}

/** One server by itself, as a command uses it outside of any plan. */
export function singleServer(app: App, server: PlanServer, directory: string, signal: AbortSignal): McpServers {
  const profile = { network: "on", requireConfinement: false } as const;
  return openServers(app, { servers: async () => [server], profile, directory, signal });
}

function openServers(
  app: App,
  parts: Pick<ConstructorParameters<typeof McpServers>[0], "servers" | "profile" | "directory" | "signal">,
): McpServers {
  const homes = new DataDirectory(app.paths.dataDir).mcp;
  return new McpServers({ ...parts, homes, environment: app.environment, version: VERSION });
}
