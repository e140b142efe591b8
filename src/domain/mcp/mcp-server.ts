/**
 * An MCP server as the user defined it: how it is started or reached, and what its tools may do. Values that could be
 * secret are not part of it: a text with `${VARIABLE}` names where the value comes from, and a value that was given as
 * it is lies in the credentials file.
 */
import type { QualifiedName } from "../names/qualified-name.ts";

/** For whom the server is there: in all plans of the user, or in those of one project. */
export type McpScope = { readonly kind: "user" } | { readonly kind: "project"; readonly project: QualifiedName };

/** By name: a text in which `${VARIABLE}` is filled in, or null for a value of the credentials file. */
export type McpValues = Readonly<Record<string, string | null>>;

export type McpTransport =
  | {
      readonly kind: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: McpValues;
      /** Variables of the user's environment that it gets under their own names. */
      readonly pass: readonly string[];
      readonly cwd?: string | undefined;
    }
  | { readonly kind: "http"; readonly url: string; readonly headers: McpValues };

export interface McpServerDefinition {
  readonly name: string;
  readonly scope: McpScope;
  readonly transport: McpTransport;
  /**
   * `sandbox`: a program that works on the files of a plan. It runs in the plan's sandbox, for one call at a time, and
   * its changes are recorded. `outside`: it cannot change the files of a plan.
   */
  readonly worksIn: "outside" | "sandbox";
  /** It runs confined, like the commands of a plan. */
  readonly confined: boolean;
  /** Patterns of the tools that are offered; undefined for all. */
  readonly tools: readonly string[] | undefined;
  /** Patterns of the tools that change nothing, as the user says; the server's own hints do not count. */
  readonly readOnlyTools: readonly string[];
  /** The longest that one call may take. */
  readonly timeoutMs: number;
}

export const DEFAULT_CALL_TIMEOUT_MS: number = 60_000;
export const LONGEST_CALL_TIMEOUT_MS: number = 3_600_000;

/** Whether a tool's name fits one of the patterns; `*` stands for any characters. */
export function fitsAny(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    const parts = pattern.split("*").map((part) => part.replaceAll(/[^A-Za-z0-9_]/g, String.raw`\$&`));
    return new RegExp(`^${parts.join(".*")}$`, "s").test(name);
  });
}

/** The two scopes of one name are two servers; in a plan the project's comes first. */
export function scopeKey(scope: McpScope): string {
  return scope.kind === "user" ? "user" : `project ${scope.project.toLowerCase()}`;
}

/** The variables of the environment that a definition names. */
export function variablesOf({ transport }: Pick<McpServerDefinition, "transport">): string[] {
  const texts =
    transport.kind === "stdio"
      ? [transport.command, ...transport.args, transport.cwd ?? "", ...Object.values(transport.env)]
      : [transport.url, ...Object.values(transport.headers)];
  const named = texts.flatMap((text) => [...(text ?? "").matchAll(VARIABLE)].map(([, name = ""]) => name));
  const all = [...named, ...(transport.kind === "stdio" ? transport.pass : [])];
  return [...new Set(all)].filter((name) => name !== WORKSPACE);
}

/** Not a variable of the environment: where the server sees the code. Editors call it so in their files. */
export const WORKSPACE = "workspaceFolder";

/** `${NAME}`, `${NAME:-default}` as other programs write it, and `${NAME:default}` as our files do. */
const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-?([^}]*))?\}/g;

export function hasVariable(text: string): boolean {
  return text.search(VARIABLE) !== -1;
}

/** The text with its variables filled in; the names of those that are not set and have no default are added. */
export function filledIn(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
  missing: Set<string>,
): string {
  return text.replaceAll(VARIABLE, (_, name: string, fallback: string | undefined) => {
    const found = environment[name] ?? fallback;
    if (found === undefined) missing.add(name);
    return found ?? "";
  });
}
