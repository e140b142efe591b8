/** A request from a prompt of an MCP server: the server's text, with the person's own words after it. */
import { contentOf } from "../../actors/mcp/server-content.ts";
import type { McpConnection } from "../../actors/mcp/mcp-connection.ts";
import { NotFoundError, UsageError, ValidationError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { scopeKey } from "../../domain/mcp/mcp-server.ts";
import { nearest } from "../../domain/text/suggest.ts";
import type { JsonValue } from "../../domain/values/json.ts";
import { maskedText } from "../../platform/masking.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";
import { addedServer, singleServer } from "./plan-mcp.ts";

export interface PromptWish {
  readonly request: string;
  readonly directory: string;
  readonly project?: string | undefined;
  /** `server/prompt`; undefined for a request in the person's words alone. */
  readonly prompt?: string | undefined;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
}

/** Characters of a prompt; more is not a request. */
const LONGEST = 100_000;

/** The wish in words. The arguments of a prompt are used up by it. */
export async function worded<W extends PromptWish>(app: App, wish: W, call: Call): Promise<W> {
  const { prompt, request, arguments: given = {} } = wish;
  if (prompt === undefined) return wish;
  const args = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
  const text = await promptText(app, { ...wish, prompt, args }, call);
  return { ...wish, request: [text, request.trim()].join("\n\n").trim(), arguments: undefined };
}

interface NamedPrompt extends PromptWish {
  readonly prompt: string;
  readonly args: Readonly<Record<string, string>>;
}

async function promptText(app: App, wish: NamedPrompt, call: Call): Promise<string> {
  const [, server = "", prompt = ""] = /^([^/]+)\/(.+)$/s.exec(wish.prompt) ?? [];
  if (server === "") {
    throw new UsageError(`"${wish.prompt}" is not a prompt; write it as server/name.`, {
      kept: "Nothing was written.",
      next: [nextStep("mcp.server.list")],
    });
  }
  await app.commandPolicy();
  const definition = await serverOf(app, server, wish.project);
  const added = addedServer(app, definition);
  await using servers = singleServer(app, added, wish.directory, call.signal);
  call.tell({ type: "progress", doing: `asking the MCP server ${definition.name}` });
  return await servers.listing(added, async (connection, signal) => {
    await requireFitting(connection, { server: definition.name, prompt, given: wish.args }, signal);
    const limits = { signal, timeout: definition.timeoutMs };
    const text = textOf(await connection.prompt(prompt, wish.args, limits));
    if (text !== "" && text.length <= LONGEST) return text;
    const why = text === "" ? "has no text" : `is longer than ${LONGEST} characters`;
    throw new ValidationError(`The prompt "${prompt}" of the MCP server "${definition.name}" ${why}.`, [], {
      kept: "Nothing was written.",
    });
  });
}

/** The project's server comes before the user's, as in its plans. */
async function serverOf(app: App, server: string, project: string | undefined) {
  const service = await app.mcpServers();
  if (project === undefined) return service.getServer(server);
  const scope = scopeKey(await service.scopeOf(project));
  const isOfProject = (await service.listServers()).some(
    (one) => scopeKey(one.scope) === scope && one.name.toLowerCase() === server.toLowerCase(),
  );
  return isOfProject ? service.getServer(server, project) : service.getServer(server);
}

async function requireFitting(
  connection: McpConnection,
  { server, prompt, given }: { server: string; prompt: string; given: Readonly<Record<string, string>> },
  signal: AbortSignal,
): Promise<void> {
  const all = await connection.prompts(signal);
  const found = all.find(({ name }) => name === prompt);
  const next = [nextStep("mcp.server.test", { server })];
  if (found === undefined) {
    const suggestion = nearest(
      prompt,
      all.map(({ name }) => name),
    );
    const detail = suggestion === undefined ? {} : { detail: { suggestion } };
    throw new NotFoundError(`prompt of the MCP server ${server}`, prompt, { ...detail, next });
  }
  const known = found.arguments ?? [];
  const missing = known.filter(({ name, required }) => required === true && given[name] === undefined);
  const unknown = Object.keys(given).filter((name) => !known.some((one) => one.name === name));
  const issues = [
    ...missing.map(({ name }) => ({ path: name, message: "is missing" })),
    ...unknown.map((name) => ({ path: name, message: "is not an argument of it" })),
  ];
  if (issues.length === 0) return;
  const list = issues.map(({ path, message }) => `${path} ${message}`).join("; ");
  throw new ValidationError(`The prompt "${prompt}" of the MCP server "${server}" cannot be used: ${list}.`, issues, {
    kept: "Nothing was written.",
    next,
  });
}

type Messages = Awaited<ReturnType<McpConnection["prompt"]>>;

/** A prompt of several voices says whose words are whose. */
function textOf(messages: Messages): string {
  const isTalk = messages.some(({ role }) => role === "assistant");
  const parts = messages.map(({ role, content }) => {
    const { text, image } = contentOf([content as unknown as JsonValue]);
    const said = image === undefined ? text : `[an image (${image.length} bytes) is not passed on]`;
    return isTalk ? `${role === "assistant" ? "Assistant" : "User"}: ${said}` : said;
  });
  return maskedText(parts.join("\n\n").trim());
}
