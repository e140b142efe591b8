import { ConflictError, NotFoundError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { nameKey, parseQualifiedName } from "../domain/names/qualified-name.ts";
import { nearest } from "../domain/text/suggest.ts";
import { requireSeen, type ReplaceRules } from "../plans/replace-rules.ts";
import { recordEvent, recordSourceOf, type RecordSource, type ServiceParts } from "../plans/transition.ts";
import { deleteExtension, findExtensions, insertExtension, type Extension } from "../store/tables/extensions.ts";
import type { Reader, Store } from "../store/port.ts";
import type { StoredTool } from "./tool-file.ts";

export type OwnTool = Extension<StoredTool>;

/**
 * Tools that users defined. The service holds no state; each change is one transaction with its event and its audit
 * entry. No change reaches a plan that has begun: its tools are recorded with it.
 */
export class ToolService {
  readonly #store: Store;
  readonly #recordSource: RecordSource;

  constructor(parts: ServiceParts) {
    this.#store = parts.store;
    this.#recordSource = recordSourceOf(parts);
  }

  listTools(namespace?: string): Promise<OwnTool[]> {
    return this.#store.read((reader) => findExtensions<StoredTool>(reader, "tool", namespace));
  }

  getTool(name: string): Promise<OwnTool> {
    return this.#store.read((reader) => requireTool(reader, name));
  }

  /** A tool of the same name is replaced: its author has changed the file, and the new content was accepted. */
  async addTool(tool: StoredTool, rules: ReplaceRules): Promise<OwnTool> {
    return this.#store.transaction(async (tx) => {
      const at = this.#recordSource.clock();
      const stored = await findExtensions<StoredTool>(tx, "tool");
      const before = stored.find(({ definition }) => nameKey(definition.name) === nameKey(tool.name));
      requireSeen(`tool "${tool.name}"`, before?.definition, rules.seen);
      if (rules.replace === true) await deleteExtension(tx, "tool", tool.name);
      if (!(await insertExtension(tx, "tool", tool, at))) {
        throw new ConflictError(
          `There is already a tool "${tool.name}".`,
          { expected: "no such tool", actual: tool.name, code: "already_exists" },
          {
            kept: "The existing tool was not changed.",
            next: [
              nextStep("tool.show", { tool: tool.name }),
              nextStep("tool.add", { definition: { file: "<file>" }, replace: true }),
            ],
          },
        );
      }
      const details = { tool: tool.name, runs: tool.runs.kind };
      await recordEvent(tx, this.#recordSource, { type: "tool.added", at, details });
      return { definition: tool, createdAt: at };
    });
  }

  async removeTool(name: string): Promise<void> {
    await this.#store.transaction(async (tx) => {
      const { definition } = await requireTool(tx, name);
      await deleteExtension(tx, "tool", definition.name);
      const at = this.#recordSource.clock();
      await recordEvent(tx, this.#recordSource, { type: "tool.removed", at, details: { tool: definition.name } });
    });
  }
}

async function requireTool(reader: Reader, name: string): Promise<OwnTool> {
  const key = nameKey(parseQualifiedName(name));
  const all = await findExtensions<StoredTool>(reader, "tool");
  const found = all.find(({ definition }) => nameKey(definition.name) === key);
  if (found !== undefined) return found;
  const suggestion = nearest(
    name,
    all.map(({ definition }) => definition.name),
  );
  throw new NotFoundError("tool", name, {
    ...(suggestion === undefined ? {} : { detail: { suggestion } }),
    next: [suggestion === undefined ? nextStep("tool.list") : nextStep("tool.show", { tool: suggestion })],
  });
}
