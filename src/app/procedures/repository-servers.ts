/**
 * The MCP servers that a repository brings along in `.mcp.json`, or in the file of an editor. A file of a repository
 * may come from another person, so its servers are used only after a yes to just this content in just this repository;
 * a no is kept too. Where no one can be asked, a notice names the command that accepts it.
 */
import { readFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import type { ActorWants } from "../../domain/actor/actor-wants.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { variablesOf } from "../../domain/mcp/mcp-server.ts";
import { checkedServer, serversInFile, type CheckedServer } from "../../domain/mcp/server-input.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { ifCode } from "../../platform/contained-path.ts";
import { allow, readTrust } from "../../platform/settings/trust-file.ts";
import { planResources } from "../../plans/in-place-rules.ts";
import type { PlanServer } from "../../runs/mcp/plan-server.ts";
import type { App } from "../base/app.ts";
import { confirmed, type Call } from "../base/call.ts";
import type { DefinitionWants } from "./accept-definition.ts";

/** The first one that is there counts: the others mostly say the same for another program. */
const FILES = [".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json"] as const;
const LARGEST = 256 * 1024;

export interface RepositoryFile {
  readonly directory: string;
  readonly path: string;
  readonly hash: string;
  readonly servers: readonly CheckedServer[];
}

/** The servers that the directory's file defines; undefined without a file. Throws for one that cannot be used. */
export function repositoryFile(directory: string): RepositoryFile | undefined {
  const found = fileIn(directory);
  if (found === undefined) return undefined;
  const { name, path, text } = found;
  const hash = createHash("sha256").update(`${name}\0${directory}\0${text}`).digest("hex");
  const given = text.length > LARGEST ? [] : serversInFile(text, path).servers;
  const servers = given.map((one) => checkedServer({ ...one, confined: true }, { kind: "user" }));
  return servers.length === 0 ? undefined : { directory, path, hash, servers };
}

function fileIn(
  directory: string,
): { readonly name: string; readonly path: string; readonly text: string } | undefined {
  for (const name of FILES) {
    const path = join(directory, name);
    try {
      return { name, path, text: readFileSync(path, "utf8") };
    } catch (error) {
      ifCode("ENOENT", "ENOTDIR", "EISDIR")(error);
    }
  }
  return undefined;
}

/** The servers of accepted files. A file that cannot be used has none. */
export function acceptedServers(app: App, directories: readonly string[]): PlanServer[] {
  const { files } = readTrust(app.paths.dataDir);
  return directories.flatMap((directory) => {
    const file = usableFile(directory);
    if (file === undefined || "problem" in file || !files.includes(file.hash)) return [];
    return file.servers.map(({ definition, secrets }) => ({ definition, repository: directory, secrets }));
  });
}

function usableFile(directory: string): RepositoryFile | { readonly problem: AgentsError } | undefined {
  try {
    return repositoryFile(directory);
  } catch (error) {
    if (error instanceof AgentsError) return { problem: error };
    throw error;
  }
}

/** Before a plan begins: asks about each file that was neither accepted nor refused. */
export async function offerRepositoryServers(app: App, plan: Plan, call: Call): Promise<void> {
  const resources = await (await app.store()).read((reader) => planResources(reader, plan));
  for (const directory of new Set(resources.map(({ path }) => path))) {
    const file = usableFile(directory);
    if (file === undefined) continue;
    if ("problem" in file) {
      call.tell({ type: "notice", level: "warning", text: `${file.problem.message} It is not used.` });
      continue;
    }
    const { files, refused = [] } = readTrust(app.paths.dataDir);
    if (files.includes(file.hash) || refused.includes(file.hash)) continue;
    if (call.answers === "person") await decide(app, file, call);
    else call.tell(notUsedNotice(file));
  }
}

/** Shows what the file wants, asks, and keeps the answer. */
export async function decide(app: App, file: RepositoryFile, call: Call): Promise<boolean> {
  const shown: DefinitionWants = { file: file.path, wants: wantsOf(file) };
  const yes = await confirmed(call, "Use its MCP servers in plans of this repository?", [
    { kind: "definition", output: shown },
  ]);
  await keepAnswer(app, file, yes);
  return yes;
}

export async function keepAnswer(app: App, { hash }: RepositoryFile, yes: boolean): Promise<void> {
  const answer = yes ? { files: [hash] } : { files: [], refused: [hash] };
  await allow(app.paths.dataDir, { ...answer, variables: [] });
}

export function wantsOf({ servers }: RepositoryFile): ActorWants {
  const definitions = servers.map(({ definition }) => definition);
  const places = definitions.map((definition) => {
    const { transport } = definition;
    const place = transport.kind === "http" ? transport.url : [transport.command, ...transport.args].join(" ");
    return { isHttp: transport.kind === "http", place, variables: variablesOf(definition) };
  });
  return {
    commands: places.flatMap(({ isHttp, place }) => (isHttp ? [] : [place])),
    endpoints: places.flatMap(({ isHttp, place }) => (isHttp ? [place] : [])),
    variables: places.flatMap(({ place, variables }) => variables.map((name) => ({ name, endpoint: place }))),
    unsafe: [],
  };
}

function notUsedNotice({ directory, path, servers }: RepositoryFile): Parameters<Call["tell"]>[0] {
  const names = servers.map(({ definition }) => definition.name).join(", ");
  return {
    type: "notice",
    level: "warning",
    text: `${path} defines MCP servers (${names}) that you have not accepted; they are not used.`,
    next: [nextStep("mcp.server.accept", { directory })],
  };
}

/** The file of a directory as a list shows it. */
export const RepositoryState = z.strictObject({
  file: z.string(),
  state: z.enum(["accepted", "refused", "not accepted", "not usable"]),
  servers: z.array(z.string()),
});

export function repositoryState(app: App, directory: string): z.output<typeof RepositoryState> | undefined {
  const file = usableFile(directory);
  if (file === undefined) return undefined;
  if ("problem" in file) return { file: fileIn(directory)?.path ?? directory, state: "not usable", servers: [] };
  const { files, refused = [] } = readTrust(app.paths.dataDir);
  const state = files.includes(file.hash) ? "accepted" : refused.includes(file.hash) ? "refused" : "not accepted";
  return { file: file.path, state, servers: file.servers.map(({ definition }) => definition.name) };
}
