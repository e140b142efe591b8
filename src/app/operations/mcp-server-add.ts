import * as z from "zod";
import { UsageError } from "../../domain/errors/errors.ts";
import { checkedServer, serversInFile, type CheckedServer, type GivenServer } from "../../domain/mcp/server-input.ts";
import { removeServerCredentials, setServerCredential } from "../../platform/settings/credentials.ts";
import type { App } from "../base/app.ts";
import { confirmed, type Call } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";
import { Document } from "../base/schemas.ts";
import { credentialKey } from "../procedures/plan-mcp.ts";
import { McpServerFacts, mcpServerFacts } from "../queries/mcp-server-facts.ts";

const Input = z.strictObject({
  server: z.string().optional(),
  command: z.array(z.string()).readonly().optional(),
  definition: Document.optional(),
  project: z.string().optional(),
  url: z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
  pass: z.array(z.string()).readonly().optional(),
  cwd: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  worksIn: z.enum(["outside", "sandbox"]).optional(),
  confined: z.boolean().default(false),
  only: z.array(z.string()).readonly().optional(),
  readOnly: z.array(z.string()).readonly().optional(),
  timeout: z.number().optional(),
});

export const operation = defineOperation({
  input: Input,
  output: z.union([
    z.strictObject({ servers: z.array(McpServerFacts), ignored: z.array(z.string()) }),
    z.strictObject({ added: z.literal(false) }),
  ]),
  run: async (app, input, call) => {
    const service = await app.mcpServers();
    const scope = await service.scopeOf(input.project);
    const { servers, ignored } = input.definition === undefined ? named(input) : inFile(input, input.definition);
    if (!(await agreed(input, servers, call))) return { added: false as const };
    const checked = servers.map((one) => checkedServer(one, scope));
    await keepSecrets(app, checked);
    const added = await service
      .addServers(checked.map(({ definition }) => definition))
      .catch(async (error: unknown) => {
        await forgetUnused(app, checked);
        throw error;
      });
    return { servers: added.map(mcpServerFacts), ignored: [...ignored] };
  },
});

type Given = z.output<typeof Input>;

/** One server, as the options say. */
function named(input: Given): { readonly servers: readonly GivenServer[]; readonly ignored: readonly string[] } {
  const { server, command, url, env, pass, cwd, headers, worksIn, confined, only, readOnly, timeout } = input;
  if (server === undefined) throw incompleteError();
  const limits = {
    tools: only,
    readOnlyTools: readOnly,
    timeoutMs: timeout === undefined ? undefined : timeout * 1000,
  };
  return {
    servers: [{ name: server, command, url, env, pass, cwd, headers, worksIn, confined, ...limits }],
    ignored: [],
  };
}

function incompleteError(): UsageError {
  return new UsageError("Name the server, and say how it is started or where it is.", {
    kept: "Nothing was written.",
    next: [
      { text: "agents mcp server add memory -- npx -y @modelcontextprotocol/server-memory" },
      { text: "agents mcp server add docs --url https://docs.example.com/mcp" },
      { text: "agents mcp server add --file .mcp.json" },
    ],
  });
}

/** The servers of a file, or the named one of them; the options hold for each. */
function inFile(
  input: Given,
  { text, file }: z.output<typeof Document>,
): { readonly servers: readonly GivenServer[]; readonly ignored: readonly string[] } {
  if (input.url !== undefined || (input.command?.length ?? 0) > 0) {
    throw new UsageError("A file says how its servers are started: give the file, or a command or url.", {
      kept: "Nothing was written.",
    });
  }
  const { servers, ignored } = serversInFile(text, file);
  const chosen = servers.filter(({ name }) => input.server === undefined || name === input.server);
  if (chosen.length === 0) {
    const names = servers.map(({ name }) => name).join(", ");
    throw new UsageError(
      servers.length === 0
        ? `${file} defines no servers.`
        : `${file} has no server "${input.server}" (it has: ${names}).`,
      { kept: "Nothing was written." },
    );
  }
  const { worksIn, confined, only, readOnly, timeout } = input;
  const more = chosen.map((one) => ({
    ...one,
    worksIn: worksIn ?? one.worksIn,
    confined: confined || one.confined,
    tools: only ?? one.tools,
    readOnlyTools: readOnly ?? one.readOnlyTools,
    timeoutMs: timeout === undefined ? one.timeoutMs : timeout * 1000,
  }));
  return { servers: more, ignored: ignored.filter((key) => chosen.some(({ name }) => key.startsWith(`${name}.`))) };
}

/** A file that may come from another person is shown first: its programs would run with the user's rights. */
async function agreed({ definition }: Given, servers: readonly GivenServer[], call: Call): Promise<boolean> {
  if (definition?.outside !== true) return true;
  const commands = servers.flatMap(({ command }) => (command === undefined ? [] : [command.join(" ")]));
  const endpoints = servers.flatMap(({ url }) => url ?? []);
  const wants = { commands, endpoints, variables: [], unsafe: [] };
  return confirmed(call, "Add these MCP servers? Their programs run with your rights.", [
    { kind: "definition", output: { file: definition.file, wants } },
  ]);
}

/** Before the definition that needs them: a server without its values would fail in a way that no one understands. */
async function keepSecrets(app: App, checked: readonly CheckedServer[]): Promise<void> {
  const known = new Set((await (await app.mcpServers()).listServers()).map(keyText));
  for (const { definition, secrets } of checked) {
    // It is there already, and the values are not this one's.
    if (known.has(keyText(definition))) continue;
    for (const [name, value] of Object.entries(secrets))
      await setServerCredential(app.paths.dataDir, [...credentialKey(definition), "value", name], value);
  }
}

/** The values of servers that were not added after all. */
async function forgetUnused(app: App, checked: readonly CheckedServer[]): Promise<void> {
  const known = new Set((await (await app.mcpServers()).listServers()).map(keyText));
  for (const { definition } of checked)
    if (!known.has(keyText(definition))) await removeServerCredentials(app.paths.dataDir, credentialKey(definition));
}

function keyText(definition: Parameters<typeof credentialKey>[0]): string {
  return credentialKey(definition).join(" ");
}
