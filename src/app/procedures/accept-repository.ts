/**
 * The tools that a repository brings along. They come from other people, so plans use only those whose
 * content the user has accepted: asked once on a terminal, or by `agents tool accept`.
 */
import type { StoredTool } from "../../catalog/tool-file.ts";
import type { ActorWants } from "../../domain/actor/actor-wants.ts";
import { allow } from "../../platform/settings/trust-file.ts";
import type { App } from "../base/app.ts";
import { confirmed, type Call } from "../base/call.ts";
import { programText } from "../queries/tool-facts.ts";
import type { DefinitionWants } from "./accept-definition.ts";
import { repositoryTools } from "../../catalog/repository-tools.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { recordedTools } from "../../ledger/recorded-tools.ts";
import { planResources } from "../../plans/in-place-rules.ts";
import { readTrust } from "../../platform/settings/trust-file.ts";

const NOTHING: ActorWants = { commands: [], endpoints: [], variables: [], unsafe: [] };

/** The wishes of tools: commands run in the sandbox, modules outside of it. */
export function toolWants(tools: readonly StoredTool[]): ActorWants {
  const texts = (kinds: readonly StoredTool["runs"]["kind"][]): string[] =>
    tools.filter(({ runs }) => kinds.includes(runs.kind)).map((tool) => `${programText(tool)} (the tool ${tool.name})`);
  return { ...NOTHING, commands: texts(["command", "shell"]), modules: texts(["module"]) };
}

export interface Brought {
  readonly hashes: readonly string[];
  readonly wants: ActorWants;
  /** As messages call it. */
  readonly what: string;
}

/** Whether the user said yes, which is remembered for these contents. */
export async function acceptBrought(app: App, { hashes, wants, what }: Brought, call: Call): Promise<boolean> {
  const shown: DefinitionWants = { file: what, wants };
  const question = `Let plans use what ${what} brings, as it is now?`;
  if (!(await confirmed(call, question, [{ kind: "definition", output: shown }]))) return false;
  await allow(app.paths.dataDir, { files: hashes, variables: [] });
  return true;
}

/**
 * Before a plan begins: asks a person about the contents that its repositories bring and no one has answered for, or
 * says that they are not used. A plan that has begun keeps the tools it has.
 */
export async function offerBrought(app: App, plan: Plan, call: Call, asks: boolean): Promise<void> {
  const store = await app.store();
  const begun = await store.read((reader) => recordedTools(reader, plan));
  if (begun !== undefined || plan.phase !== "strategize") return;
  const { files, refused = [] } = readTrust(app.paths.dataDir);
  const answered = new Set([...files, ...refused]);
  for (const { alias, path } of await store.read((reader) => planResources(reader, plan))) {
    const open = broughtBy(path, answered);
    if (open.hashes.length === 0) continue;
    if (!asks || call.answers !== "person") {
      call.tell({ type: "notice", level: "warning", text: unusedText(alias, open) });
      continue;
    }
    const accepted = await acceptBrought(app, { ...open, what: `the repository ${alias}` }, call);
    if (!accepted) await allow(app.paths.dataDir, { files: [], variables: [], refused: open.hashes });
  }
}

function broughtBy(path: string, answered: ReadonlySet<string>): Omit<Brought, "what"> {
  const tools = repositoryTools(path).flatMap((one) => ("tool" in one && !answered.has(one.hash) ? [one] : []));
  return { hashes: tools.map(({ hash }) => hash), wants: toolWants(tools.map(({ tool }) => tool)) };
}

function unusedText(alias: string, { wants }: Omit<Brought, "what">): string {
  const tools = wants.commands.length + (wants.modules ?? []).length;
  return `${alias} brings ${tools} ${tools === 1 ? "tool" : "tools"} that you have not accepted, and that are not used: agents tool accept`;
}
