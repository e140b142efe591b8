/** The user's own tools, and those that the plan's repositories bring along and the user has accepted. */
import { readFileSync } from "node:fs";
import { repositoryTools } from "../catalog/repository-tools.ts";
import type { StoredTool } from "../catalog/tool-file.ts";
import { AgentsError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { nameKey } from "../domain/names/qualified-name.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { AddedToolFacts } from "../domain/tool/added-tool.ts";
import { ownTool, ownToolFacts } from "../execution/tools/own/own-tool-call.ts";
import { toolKey } from "../execution/tools/tool-set.ts";
import type { ToolSource } from "../execution/tools/tool-source.ts";
import { planResources } from "../plans/in-place-rules.ts";
import type { Store } from "../store/port.ts";
import { findExtensions } from "../store/tables/extensions.ts";

export class OwnToolSource implements ToolSource {
  readonly source = "own";
  readonly #store: Store;
  readonly #accepted: () => ReadonlySet<string>;

  /** `accepted` are the hashes of the contents that the user has accepted. */
  constructor(parts: { readonly store: Store; readonly accepted: () => ReadonlySet<string> }) {
    this.#store = parts.store;
    this.#accepted = parts.accepted;
  }

  async offered({ plan, names }: Parameters<ToolSource["offered"]>[0]): Promise<AddedToolFacts[]> {
    const wanted = names === undefined ? undefined : new Set(names.map(toolKey));
    const found = new Map<string, AddedToolFacts>();
    for (const tool of await this.#tools(plan)) {
      const key = toolKey(tool.name);
      const isNamed = wanted?.has(key) === true;
      if (found.has(key) || (wanted !== undefined && !isNamed)) continue;
      if (!mayRun(tool, plan, isNamed) || !isAsAccepted(tool, isNamed)) continue;
      found.set(key, ownToolFacts({ ...tool }, tool.runs));
    }
    return [...found.values()];
  }

  bound(facts: AddedToolFacts): ReturnType<ToolSource["bound"]> {
    return ownTool(facts);
  }

  /** The user's own come first: a repository cannot put its tool in the place of one. */
  async #tools(plan: Plan): Promise<StoredTool[]> {
    const own = await this.#store.read((reader) => findExtensions<StoredTool>(reader, "tool"));
    const resources = await this.#store.read((reader) => planResources(reader, plan));
    const accepted = this.#accepted();
    const brought = resources.flatMap(({ path }) => repositoryTools(path));
    return [
      ...own.map(({ definition }) => definition),
      ...brought.flatMap((one) => ("tool" in one && accepted.has(one.hash) ? [one.tool] : [])),
    ].toSorted((a, b) => (nameKey(a.name) < nameKey(b.name) ? -1 : nameKey(a.name) > nameKey(b.name) ? 1 : 0));
  }
}

/** A module runs outside of the sandbox, which only some profiles allow. */
function mayRun({ name, runs }: StoredTool, { profile }: Plan, isNamed: boolean): boolean {
  if (runs.kind !== "module" || profile.allowUnsafeTools) return true;
  if (!isNamed) return false;
  throw new AgentsError(
    "policy",
    `The tool "${name}" is a module, which runs outside of the sandbox, and the automation profile "${profile.name}" does not allow unsafe tools.`,
    {
      kept: "Nothing was run, and the plan stays as it is.",
      next: [nextStep("tool.show", { tool: name }), nextStep("automation-profile.show", { profile: profile.name })],
      detail: { tool: name, profile: profile.name },
    },
  );
}

/** A changed module must be accepted again; an actor that names it hears so. */
function isAsAccepted({ runs, name }: StoredTool, isNamed: boolean): boolean {
  if (runs.kind !== "module" || textOf(runs.path) === runs.text) return true;
  if (!isNamed) return false;
  throw new AgentsError(
    "policy",
    `The module of the tool "${name}", ${runs.path}, has changed since you accepted it.`,
    {
      kept: "Nothing was run, and the plan stays as it is.",
      next: [
        nextStep("tool.add", { definition: { file: "<file>" }, replace: true }),
        nextStep("tool.remove", { tool: name }),
      ],
      detail: { tool: name, path: runs.path },
    },
  );
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // A file that is gone or cannot be read is not the one that was accepted.
    return undefined;
  }
}
