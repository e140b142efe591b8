/** A server as a plan uses it: its definition, where it comes from, and its values that are not in the definition. */
import type { LoginStore } from "../../actors/mcp/server-login.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import { nextStep, type NextStep } from "../../domain/errors/next-step.ts";
import {
  filledIn,
  scopeKey,
  variablesOf,
  type McpServerDefinition,
  type McpValues,
} from "../../domain/mcp/mcp-server.ts";
import { urlProblem } from "../../domain/mcp/server-input.ts";
import { secretValues } from "../../domain/secrets/redaction.ts";
import type { Environment } from "../../domain/values/environment.ts";

export interface PlanServer {
  readonly definition: McpServerDefinition;
  /** The directory of the `.mcp.json` that it comes from; undefined for one that the user added. */
  readonly repository: string | undefined;
  /** The values that its definition does not hold, by name. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The login at it, if it can have one. */
  readonly login?: LoginStore | undefined;
}

/** Two servers of one name are told apart by it, in records too. */
export function serverKey({ definition, repository }: Pick<PlanServer, "definition" | "repository">): string {
  return repository === undefined ? scopeKey(definition.scope) : `repository ${repository}`;
}

export type FilledTransport =
  | {
      readonly kind: "stdio";
      readonly command: readonly string[];
      readonly environment: Readonly<Record<string, string>>;
      readonly cwd: string | undefined;
      readonly masked: readonly string[];
    }
  | {
      readonly kind: "http";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly masked: readonly string[];
    };

/** The transport with every variable and secret filled in. One that is missing is an error that names it. */
export function filledTransport(server: PlanServer, environment: Environment): FilledTransport {
  const { transport } = server.definition;
  const missing = new Set<string>();
  const fill = (text: string): string => filledIn(text, environment, missing);
  const values = (given: McpValues): Record<string, string> =>
    Object.fromEntries(
      Object.entries(given).map(([name, text]) => {
        const value = text === null ? server.secrets[name] : fill(text);
        if (value === undefined) missing.add(name);
        return [name, value ?? ""];
      }),
    );
  if (transport.kind === "http") {
    const headers = values(transport.headers);
    const url = fill(transport.url);
    requireAll(server, missing);
    const problem = urlProblem(url);
    if (problem !== undefined) throw new AgentsError("tool_failed", `The url of ${nameOf(server)} ${problem}.`);
    return { kind: "http", url, headers, masked: maskedValues(server, headers, environment) };
  }
  const passed = transport.pass.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const own = { ...Object.fromEntries(passed), ...values(transport.env) };
  const command = [transport.command, ...transport.args].map(fill);
  const cwd = transport.cwd === undefined ? undefined : fill(transport.cwd);
  requireAll(server, missing);
  return { kind: "stdio", command, environment: own, cwd, masked: maskedValues(server, own, environment) };
}

/** Shorter ones are words that any text may have. */
const SECRET_LENGTH = 12;

/** The values that must not be in anything that the server says. */
function maskedValues(
  server: PlanServer,
  values: Readonly<Record<string, string>>,
  environment: Environment,
): readonly string[] {
  const named = Object.fromEntries(variablesOf(server.definition).map((name) => [name, environment[name]]));
  const isHttp = server.definition.transport.kind === "http";
  // A header is sent to be believed; of a variable only its name and form tell.
  const headers = isHttp ? [...Object.values(values), ...Object.values(named)].flatMap(wordsOf) : [];
  const literals = Object.values(server.secrets).filter((value) => !/[\s/]/.test(value));
  const { tokens, client } = server.login?.read() ?? {};
  const tokenValues = [tokens?.access_token, tokens?.refresh_token, client?.client_secret].flatMap((one) => one ?? []);
  const long = [...headers, ...literals, ...tokenValues].filter((value) => value.length >= SECRET_LENGTH);
  return [...new Set([...secretValues({ ...values, ...named }), ...long])];
}

function wordsOf(value: string | undefined): string[] {
  return value === undefined ? [] : [value, ...value.split(/\s+/)];
}

function requireAll(server: PlanServer, missing: ReadonlySet<string>): void {
  if (missing.size === 0) return;
  const names = [...missing].join(", ");
  throw new AgentsError("tool_failed", `${nameOf(server)} needs ${names}, which your environment does not have.`, {
    next: [{ text: `set ${names} and repeat the command` }, ...showNext(server)],
    detail: { variables: [...missing] },
  });
}

function nameOf({ definition }: PlanServer): string {
  return serverName(definition);
}

function serverName({ name }: McpServerDefinition): string {
  return `The MCP server "${name}"`;
}

function showNext({ definition, repository }: PlanServer): NextStep[] {
  return repository === undefined
    ? [nextStep("mcp.server.show", { server: definition.name, ...projectOf(definition) })]
    : [];
}

/** The server wants a login that it does not have, or not any more. */
export function loginError({ definition }: PlanServer): AgentsError {
  return new AgentsError("tool_failed", `${serverName(definition)} wants a login.`, {
    next: [loginStep(definition)],
  });
}

export function loginStep(definition: McpServerDefinition): NextStep {
  return nextStep("mcp.server.login", { server: definition.name, ...projectOf(definition) });
}

function projectOf({ scope }: Pick<McpServerDefinition, "scope">): { readonly project?: string } {
  return scope.kind === "project" ? { project: scope.project } : {};
}
