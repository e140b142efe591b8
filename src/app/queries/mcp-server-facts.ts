import * as z from "zod";
import type { McpServerDefinition, McpValues } from "../../domain/mcp/mcp-server.ts";
import type { StoredMcpServer } from "../../store/tables/mcp-servers.ts";
import { Instant, instant } from "../base/schemas.ts";

/** Where a value comes from: never the value itself. */
const ValueFacts = z.strictObject({ name: z.string(), from: z.string() });

export const McpServerFacts = z.strictObject({
  name: z.string(),
  /** Null for a server of the user. */
  project: z.string().nullable(),
  transport: z.enum(["stdio", "http"]),
  command: z.array(z.string()).nullable(),
  cwd: z.string().nullable(),
  url: z.string().nullable(),
  /** Environment variables of the program, or headers of the requests. */
  values: z.array(ValueFacts),
  worksIn: z.enum(["outside", "sandbox"]),
  confined: z.boolean(),
  tools: z.array(z.string()).nullable(),
  readOnlyTools: z.array(z.string()),
  timeoutMs: z.int(),
  createdAt: Instant,
});

export function mcpServerFacts(server: StoredMcpServer): z.output<typeof McpServerFacts> {
  const { transport, scope, worksIn, confined, timeoutMs } = server;
  const isStdio = transport.kind === "stdio";
  return {
    name: server.name,
    project: scope.kind === "project" ? scope.project : null,
    transport: transport.kind,
    command: isStdio ? [transport.command, ...transport.args] : null,
    cwd: (isStdio ? transport.cwd : undefined) ?? null,
    url: isStdio ? null : transport.url,
    values: valuesOf(server),
    worksIn,
    confined,
    tools: server.tools === undefined ? null : [...server.tools],
    readOnlyTools: [...server.readOnlyTools],
    timeoutMs,
    createdAt: instant(server.createdAt),
  };
}

function valuesOf({ transport }: McpServerDefinition): z.output<typeof ValueFacts>[] {
  const named = (values: McpValues): z.output<typeof ValueFacts>[] =>
    Object.entries(values).map(([name, text]) => ({ name, from: text ?? "the credentials file" }));
  if (transport.kind === "http") return named(transport.headers);
  return [...named(transport.env), ...transport.pass.map((name) => ({ name, from: "your environment" }))];
}
