/** The facts of a tool that is not built in, and where it comes from. */
import { readFileSync } from "node:fs";
import * as z from "zod";
import { repositoryTools, type RepositoryTool } from "../../catalog/repository-tools.ts";
import type { StoredTool } from "../../catalog/tool-file.ts";
import { findWorkTree } from "../../git/work-tree.ts";
import { maskedText } from "../../platform/masking.ts";
import { readTrust } from "../../platform/settings/trust-file.ts";
import type { App } from "../base/app.ts";
import { Json } from "../base/schemas.ts";

export const ToolFacts = z.strictObject({
  name: z.string(),
  description: z.string(),
  /** `own` was added by the user; `repository` is a file of the repository here. */
  from: z.enum(["built-in", "own", "repository"]),
  writes: z.boolean(),
  /** `not accepted`: plans do not use it. `changed`: its module is not the one that was accepted. */
  state: z.enum(["ready", "not accepted", "changed", "not valid"]),
  /** The program, or the path of a module; null for built-in tools. */
  runs: z.string().nullable(),
  kind: z.enum(["command", "shell", "module"]).nullable(),
  timeoutMs: z.int().nullable(),
  output: z.enum(["text", "json"]).nullable(),
  cwd: z.string().nullable(),
  env: z.record(z.string(), z.string()),
  parameters: z.record(z.string(), Json),
  file: z.string().nullable(),
  problem: z.string().nullable(),
});
export type ToolFactsOutput = z.output<typeof ToolFacts>;

export function ownToolDetails(tool: StoredTool): ToolFactsOutput {
  const { runs } = tool;
  const changed = runs.kind === "module" && currentText(runs.path) !== runs.text;
  return { ...details(tool), from: "own", state: changed ? "changed" : "ready", file: null };
}

function details(tool: StoredTool): Omit<ToolFactsOutput, "from" | "state" | "file"> {
  const { name, description, writes, runs, timeoutMs, output, cwd, env, parameters } = tool;
  const masked = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, maskedText(value)]));
  const about = { name, description, writes, timeoutMs, output, parameters, problem: null };
  return { ...about, runs: programText(tool), kind: runs.kind, cwd: cwd ?? null, env: masked };
}

export function programText({ runs }: Pick<StoredTool, "runs">): string {
  if (runs.kind === "module") return runs.path;
  return runs.kind === "shell" ? runs.text : runs.command.map(quoted).join(" ");
}

function quoted(item: string): string {
  return /^[\w./:=@%+,{}-]+$/.test(item) ? item : JSON.stringify(item);
}

/** The tools of the repository at a directory. */
export function toolsBrought(app: App, directory: string): (RepositoryTool & { readonly accepted: boolean })[] {
  const root = findWorkTree(directory);
  if (root === undefined) return [];
  const trusted = new Set(readTrust(app.paths.dataDir).files);
  return repositoryTools(root).map((one) => ({ ...one, accepted: "hash" in one && trusted.has(one.hash) }));
}

export function broughtToolDetails(one: RepositoryTool & { readonly accepted: boolean }): ToolFactsOutput {
  const { file } = one;
  if ("tool" in one)
    return { ...details(one.tool), from: "repository", state: one.accepted ? "ready" : "not accepted", file };
  return {
    name: file,
    description: "",
    from: "repository",
    writes: true,
    state: "not valid",
    runs: null,
    kind: null,
    timeoutMs: null,
    output: null,
    cwd: null,
    env: {},
    parameters: {},
    file,
    problem: one.problem,
  };
}

function currentText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // A file that is gone is not the one that was accepted.
    return undefined;
  }
}
