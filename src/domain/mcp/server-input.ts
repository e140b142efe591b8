/** Definitions of servers as users give them, checked: on the command line, or in the JSON of other programs. */
import { ValidationError, type ValidationIssue } from "../errors/errors.ts";
import { isForbiddenHost } from "../network/endpoint-address.ts";
import { maskSecrets } from "../secrets/redaction.ts";
import { lineProblem, shown } from "../text/text.ts";
import { editorForm, editorProblem, ourVariables, withoutComments } from "./editor-files.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../values/json.ts";
import {
  DEFAULT_CALL_TIMEOUT_MS,
  hasVariable,
  LONGEST_CALL_TIMEOUT_MS,
  type McpScope,
  type McpServerDefinition,
  type McpTransport,
  type McpValues,
} from "./mcp-server.ts";

/** A server as it was given: with values that may be secret. */
export interface GivenServer {
  readonly name: string;
  readonly command?: readonly string[] | undefined;
  readonly url?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly pass?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly worksIn?: "outside" | "sandbox" | undefined;
  readonly confined?: boolean | undefined;
  readonly tools?: readonly string[] | undefined;
  readonly readOnlyTools?: readonly string[] | undefined;
  readonly timeoutMs?: number | undefined;
}

/** A definition, and the values that belong into the credentials file, by their names. */
export interface CheckedServer {
  readonly definition: McpServerDefinition;
  readonly secrets: Readonly<Record<string, string>>;
}

const NAME = /^[A-Za-z][A-Za-z0-9-]*(?:_[A-Za-z0-9-]+)*$/;
const SERVER_NAME_LIMIT = 40;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;
/** The protocol's own. */
const OUR_HEADERS = /^(?:mcp-.*|content-type|content-length|accept|host|connection|transfer-encoding)$/i;

export function checkedServer(as: GivenServer, scope: McpScope): CheckedServer {
  const given = inOurForm(as);
  const issues: ValidationIssue[] = [];
  const problem = (path: string, message: string): void => void issues.push({ path, message });
  if (given.name.length > SERVER_NAME_LIMIT || !NAME.test(given.name))
    problem("name", `must have at most ${SERVER_NAME_LIMIT} letters, digits, "-" and single "_", a letter first`);
  const isCommand = given.command !== undefined && given.command.length > 0;
  if (isCommand === (given.url !== undefined)) problem("", "needs a command or a url, and not both");
  const { timeoutMs = DEFAULT_CALL_TIMEOUT_MS } = given;
  if (!(timeoutMs >= 1 && timeoutMs <= LONGEST_CALL_TIMEOUT_MS))
    problem("timeout", `must be between 1 ms and ${LONGEST_CALL_TIMEOUT_MS / 1000} s`);
  const worksIn = given.worksIn ?? "outside";
  if (worksIn === "sandbox" && !isCommand) problem("works_in", "is for servers that are started by a command");
  const values = isCommand ? stdioIssues(given, problem) : httpIssues(given, problem);
  if (issues.length > 0) throw serverError(given.name, issues);
  const secrets = Object.fromEntries(Object.entries(values).filter(([, value]) => !hasVariable(value)));
  return {
    secrets,
    definition: {
      name: given.name,
      scope,
      transport: transportOf(given, values),
      worksIn,
      confined: worksIn === "sandbox" || given.confined === true,
      tools: given.tools,
      readOnlyTools: given.readOnlyTools ?? [],
      timeoutMs,
    },
  };
}

/** With `${NAME}` for the forms in which editors name the values that they fill in. */
function inOurForm(given: GivenServer): GivenServer {
  const all = (values: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, ourVariables(value)]));
  return {
    ...given,
    command: given.command?.map(ourVariables),
    url: given.url === undefined ? undefined : ourVariables(given.url),
    cwd: given.cwd === undefined ? undefined : ourVariables(given.cwd),
    env: given.env === undefined ? undefined : all(given.env),
    headers: given.headers === undefined ? undefined : all(given.headers),
  };
}

type Problem = (path: string, message: string) => void;

function stdioIssues(given: GivenServer, problem: Problem): Readonly<Record<string, string>> {
  const { command = [], env = {}, pass = [], cwd } = given;
  for (const [index, word] of command.entries()) {
    const why = lineProblem(word) ?? secretProblem(word, "env");
    if (why !== undefined) problem(index === 0 ? "command" : `args.${index - 1}`, why);
  }
  if (command[0] === "") problem("command", "must not be empty");
  if (cwd !== undefined && !cwd.startsWith("/") && !hasVariable(cwd)) problem("cwd", "must be an absolute path");
  for (const name of [...Object.keys(env), ...pass])
    if (!VARIABLE_NAME.test(name)) problem(`env.${name}`, "is not the name of a variable");
  for (const [name, value] of Object.entries(env)) if (value.includes("\0")) problem(`env.${name}`, "holds a NUL");
  const words = command.map((word, index) => [index === 0 ? "command" : `args.${index - 1}`, word] as const);
  for (const [name, value] of [...words, ...Object.entries(env), ["cwd", cwd ?? ""] as const]) {
    const form = editorForm(value);
    if (form !== undefined) problem(name, editorProblem(form));
  }
  if (given.headers !== undefined) problem("headers", "are for servers with a url");
  return env;
}

function httpIssues(given: GivenServer, problem: Problem): Readonly<Record<string, string>> {
  const { url = "", headers = {} } = given;
  const why = urlProblem(url) ?? secretProblem(url, "headers");
  if (why !== undefined) problem("url", why);
  for (const [name, value] of [["url", url] as const, ...Object.entries(headers)]) {
    const form = editorForm(value);
    if (form !== undefined) problem(name, editorProblem(form));
  }
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name)) problem(`headers.${name}`, "is not the name of a header");
    else if (OUR_HEADERS.test(name)) problem(`headers.${name}`, "is set by the protocol");
    const unfit = lineProblem(value) ?? (HEADER_VALUE.test(value) ? undefined : "must be one line of Latin characters");
    if (unfit !== undefined) problem(`headers.${name}`, unfit);
  }
  for (const [key, value] of [
    ["env", given.env],
    ["cwd", given.cwd],
    ["pass", given.pass],
  ] as const)
    if (value !== undefined && (typeof value === "string" || Object.keys(value).length > 0))
      problem(key, "is for servers that are started by a command");
  return headers;
}

/** Why nothing may be sent to this address; one with a variable is judged again when it is filled in. */
export function urlProblem(url: string): string | undefined {
  if (hasVariable(url)) return undefined;
  if (!URL.canParse(url)) return "must be an address that begins with https:// or http://";
  const { protocol, hostname, username, password } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") return "must be an address that begins with https:// or http://";
  if (username !== "" || password !== "") return "must not hold a name or a password; use a header";
  if (isForbiddenHost(hostname)) return "is an address at which clouds answer with credentials; nothing is sent there";
  return undefined;
}

function secretProblem(text: string, instead: "env" | "headers"): string | undefined {
  if (maskSecrets(text).masked === 0) return undefined;
  return `holds a secret, which would be stored and shown; put it into ${instead}`;
}

function transportOf(given: GivenServer, values: Readonly<Record<string, string>>): McpTransport {
  const kept: McpValues = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, hasVariable(value) ? value : null]),
  );
  const { command = [], url = "", pass = [], cwd } = given;
  const [program = "", ...args] = command;
  if (program === "") return { kind: "http", url, headers: kept };
  return { kind: "stdio", command: program, args, env: kept, pass, ...(cwd === undefined ? {} : { cwd }) };
}

function serverError(name: string, issues: readonly ValidationIssue[]): ValidationError {
  const list = issues.map(({ path, message }) => `${path === "" ? "it" : path} ${message}`).join("; ");
  return new ValidationError(`The MCP server ${shown(name)} is not usable: ${list}.`, issues, {
    kept: "Nothing was written.",
  });
}

/** The servers of a file, and the keys in it that mean nothing to us. */
export interface GivenServers {
  readonly servers: readonly GivenServer[];
  readonly ignored: readonly string[];
}

/** `{ "mcpServers": { "name": { "command": …, "args": … } } }`, as most programs write it; VS Code says `servers`. */
export function serversInFile(text: string, file: string): GivenServers {
  let parsed: JsonValue;
  try {
    parsed = JSON.parse(withoutComments(text)) as JsonValue;
  } catch (error) {
    const message = `${file} is not JSON: ${error instanceof Error ? error.message : String(error)}.`;
    throw new ValidationError(message, [{ path: "", message }], { kept: "Nothing was written." });
  }
  const listed = isJsonObject(parsed) ? (parsed["mcpServers"] ?? parsed["servers"]) : undefined;
  if (!isJsonObject(listed)) {
    const message = `${file} has no "mcpServers".`;
    throw new ValidationError(message, [{ path: "mcpServers", message }], { kept: "Nothing was written." });
  }
  const ignored: string[] = [];
  const servers = Object.entries(listed).map(([name, value]) => givenServer(name, value, ignored));
  return { servers, ignored };
}

const KNOWN_KEYS = new Set(
  "type command args env cwd pass url headers works_in confined tools read_only_tools timeout".split(" "),
);

function givenServer(name: string, value: JsonValue, ignored: string[]): GivenServer {
  const issues: ValidationIssue[] = [];
  const given = isJsonObject(value) ? value : {};
  if (!isJsonObject(value)) issues.push({ path: name, message: "must be an object" });
  ignored.push(
    ...Object.keys(given)
      .filter((key) => !KNOWN_KEYS.has(key))
      .map((key) => `${name}.${key}`),
  );
  const read = new Reading(given, issues);
  const type = read.text("type") ?? (given["url"] === undefined ? "stdio" : "http");
  if (type === "sse") issues.push({ path: "type", message: "sse is the old transport; give the streamable HTTP url" });
  else if (!["stdio", "http", "streamable-http", "streamableHttp"].includes(type))
    issues.push({ path: "type", message: "must be stdio or http" });
  const command = read.text("command");
  const worksIn = read.text("works_in");
  if (worksIn !== undefined && worksIn !== "outside" && worksIn !== "sandbox")
    issues.push({ path: "works_in", message: "must be outside or sandbox" });
  if (given["envFile"] !== undefined)
    issues.push({ path: "envFile", message: 'is not read; name its variables in env, as "NAME": "${NAME}"' });
  const seconds = given["timeout"];
  if (seconds !== undefined && typeof seconds !== "number")
    issues.push({ path: "timeout", message: "must be a number of seconds" });
  const server: GivenServer = {
    name,
    command: command === undefined ? undefined : [command, ...(read.list("args") ?? [])],
    url: read.text("url"),
    env: read.record("env"),
    pass: read.list("pass"),
    cwd: read.text("cwd"),
    headers: read.record("headers"),
    worksIn: worksIn === "sandbox" ? "sandbox" : undefined,
    confined: given["confined"] === true,
    tools: read.list("tools"),
    readOnlyTools: read.list("read_only_tools"),
    timeoutMs: typeof seconds === "number" ? Math.round(seconds * 1000) : undefined,
  };
  if (issues.length > 0) throw serverError(name, issues);
  return server;
}

/** Values of an object by their types; another type is a problem. */
class Reading {
  readonly #given: JsonObject;
  readonly #issues: ValidationIssue[];

  constructor(given: JsonObject, issues: ValidationIssue[]) {
    this.#given = given;
    this.#issues = issues;
  }

  text(key: string): string | undefined {
    const value = this.#given[key];
    if (value === undefined || typeof value === "string") return value;
    this.#issues.push({ path: key, message: "must be a text" });
    return undefined;
  }

  list(key: string): string[] | undefined {
    const value = this.#given[key];
    if (value === undefined) return undefined;
    const items = Array.isArray(value) ? (value as readonly JsonValue[]) : [null];
    if (items.every((one) => typeof one === "string")) return [...items];
    this.#issues.push({ path: key, message: "must be a list of texts" });
    return undefined;
  }

  record(key: string): Record<string, string> | undefined {
    const value = this.#given[key];
    if (value === undefined) return undefined;
    const entries = isJsonObject(value) ? Object.entries(value) : [["", null] as const];
    const texts = entries.flatMap(([name, one]) =>
      typeof one === "string" || typeof one === "number" || typeof one === "boolean" ? [[name, String(one)]] : [],
    );
    if (texts.length === entries.length) return Object.fromEntries(texts) as Record<string, string>;
    this.#issues.push({ path: key, message: "must hold texts by their names" });
    return undefined;
  }
}
