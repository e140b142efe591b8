import { ConflictError } from "../domain/errors.ts";
import { parseQualifiedName } from "../domain/qualified-name.ts";
import { parseToolActor, type ToolActor, type ToolActorInput } from "../domain/tool-actor.ts";
import {
  actionsUsing,
  activePlansUsing,
  actorNames,
  deleteActor,
  findActor,
  findActors,
  insertActor,
} from "../store/actors.ts";
import type { Reader, Store } from "../store/store.ts";
import { ambienceOf, recordEvent, type Ambience, type ServiceParts } from "./transition.ts";
import { notFound } from "./use-action.ts";

export interface ListedActor extends ToolActor {
  /** The available actions that name it in any role. */
  readonly usedBy: readonly string[];
}

/**
 * Registered actors. The service holds no state; each change is one transaction with its event and its audit entry.
 *
 * ```ts
 * const actors = new ActorService({ store });
 * const steps = [{ tool: "write_file", params: { resource: "api", path: "{file}.txt", content: "hello" } }];
 * await actors.addActor({ name: "greeter", type: "tool", description: "Writes a greeting", steps });
 * ```
 */
export class ActorService {
  readonly #store: Store;
  readonly #ambience: Ambience;

  constructor(parts: ServiceParts) {
    this.#store = parts.store;
    this.#ambience = ambienceOf(parts);
  }

  /** Insert-if-absent: of any number of concurrent callers with one name exactly one wins. */
  async addActor(input: ToolActorInput): Promise<ToolActor> {
    const definition = parseToolActor(input);
    return this.#store.transaction(async (tx) => {
      const at = this.#ambience.clock();
      if (!(await insertActor(tx, definition, at))) {
        throw new ConflictError(
          `There is already an actor "${definition.name}".`,
          { expected: "no such actor", actual: definition.name, code: "already_exists" },
          { kept: "The existing actor was not changed.", next: [`agents actor show ${definition.name}`] },
        );
      }
      const details = { actor: definition.name, type: definition.type };
      await recordEvent(tx, this.#ambience, { type: "actor.added", at, details });
      return { ...definition, version: 1, createdAt: at, updatedAt: at };
    });
  }

  async getActor(name: string): Promise<ListedActor> {
    return this.#store.read(async (reader) => {
      const actor = await requireActor(reader, name);
      return { ...actor, usedBy: await actionsUsing(reader, actor.name) };
    });
  }

  async listActors(namespace?: string): Promise<ToolActor[]> {
    return this.#store.read((reader) => findActors(reader, namespace));
  }

  /** Removes the actor unless an available action names it. */
  async removeActor(name: string): Promise<ToolActor> {
    return this.#store.transaction(async (tx) => {
      const actor = await requireActor(tx, name);
      const actions = await actionsUsing(tx, actor.name);
      if (actions.length > 0) {
        const listed = `${actions.slice(0, 5).join(", ")}${actions.length > 5 ? ", …" : ""}`;
        throw new ConflictError(
          `The actor "${actor.name}" is used by ${actions.length === 1 ? "the action" : `${actions.length} actions:`} ${listed}.`,
          { expected: "no available action that names it", actual: { actions: actions.slice(0, 20) } },
          {
            kept: "Nothing was changed.",
            next: actions.slice(0, 5).map((action) => `agents action archive ${action}`),
          },
        );
      }
      const plans = await activePlansUsing(tx, actor.name);
      if (plans.length > 0) {
        throw new ConflictError(
          `The actor "${actor.name}" is needed by ${plans.length === 1 ? "an active plan" : `${plans.length} active plans`}.`,
          { expected: "no active plan that names it", actual: { plans } },
          { kept: "Nothing was changed.", next: plans.slice(0, 5).map((plan) => `agents plan status ${plan}`) },
        );
      }
      await deleteActor(tx, actor.name);
      const at = this.#ambience.clock();
      const details = { actor: actor.name, type: actor.type };
      await recordEvent(tx, this.#ambience, { type: "actor.removed", at, details });
      return actor;
    });
  }
}

async function requireActor(reader: Reader, text: string): Promise<ToolActor> {
  const name = parseQualifiedName(text, "actor");
  const actor = await findActor(reader, name);
  if (actor !== undefined) return actor;
  throw notFound("actor", name, await actorNames(reader));
}
