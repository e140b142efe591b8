import { parseActor, type ActorInput } from "../domain/actor/actor-parser.ts";
import { refersTo } from "../domain/actor/actor-references.ts";
import type { Actor, ActorDefinition } from "../domain/actor/actor.ts";
import { ConflictError, ValidationError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { isAgentsNamespace } from "../domain/names/agent-names.ts";
import { nameParts, parseQualifiedName } from "../domain/names/qualified-name.ts";
import {
  actionsUsing,
  activePlansUsing,
  actorNames,
  deleteActor,
  findActor,
  findActors,
  findGraphs,
  insertActor,
  updateActor,
} from "../store/tables/actors.ts";
import type { Reader, Store, Tx } from "../store/port.ts";
import { requireReplaceable } from "./replace-actor.ts";
import { requireSeen, type ReplaceRules } from "../plans/replace-rules.ts";
import { checkReferences, isProviders } from "./reference-checks.ts";
import { recordSourceOf, recordEvent, type RecordSource, type ServiceParts } from "../plans/transition.ts";
import { notFoundError } from "../domain/names/not-found.ts";

export type ListedActor = Actor & {
  /** The available actions that name it in any role. */
  readonly usedBy: readonly string[];
  /** The graphs with a node that needs it. */
  readonly neededBy: readonly string[];
};

export interface ActorServiceParts extends ServiceParts {
  /** The names of providers: their namespaces hold only their models, no registered actors. */
  readonly providers?: readonly string[];
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
  readonly #recordSource: RecordSource;
  readonly #providers: readonly string[];

  constructor(parts: ActorServiceParts) {
    this.#store = parts.store;
    this.#providers = parts.providers ?? [];
    this.#recordSource = recordSourceOf(parts);
  }

  /** Insert-if-absent: of any number of concurrent callers with one name exactly one wins. */
  async addActor(input: ActorInput): Promise<Actor> {
    const [added] = await this.addActors([parseActor(input)]);
    if (added === undefined) throw new Error("Nothing was added.");
    return added;
  }

  /** All of them or none: the actors of one file may need each other. */
  async addActors(
    definitions: readonly ActorDefinition[],
    { replace = false, seen }: ReplaceRules = {},
  ): Promise<Actor[]> {
    for (const definition of definitions) this.#refuseProviders(definition);
    return this.#store.transaction(async (tx) => {
      const at = this.#recordSource.clock();
      await checkReferences(tx, definitions, this.#providers);
      const added: Actor[] = [];
      for (const definition of definitions) {
        const before = replace ? await findActor(tx, definition.name) : undefined;
        requireSeen(`actor "${definition.name}"`, before, seen);
        added.push(
          await (before === undefined ? this.#add(tx, definition, at) : this.#replace(tx, before, definition, at)),
        );
      }
      return added;
    });
  }

  async #replace(tx: Tx, before: Actor, definition: ActorDefinition, at: number): Promise<Actor> {
    const version = before.version + 1;
    const replaced = { ...definition, version, createdAt: before.createdAt, updatedAt: at };
    await requireReplaceable(tx, before, replaced);
    await updateActor(tx, definition, at);
    const details = { actor: definition.name, type: definition.type, version };
    await recordEvent(tx, this.#recordSource, { type: "actor.replaced", at, details });
    return replaced;
  }

  async #add(tx: Tx, definition: ActorDefinition, at: number): Promise<Actor> {
    if (!(await insertActor(tx, definition, at))) {
      throw new ConflictError(
        `There is already an actor "${definition.name}".`,
        { expected: "no such actor", actual: definition.name, code: "already_exists" },
        {
          kept: "The existing actor was not changed.",
          next: [
            nextStep("actor.show", { actor: definition.name }),
            nextStep("actor.add", { definition: { file: "<file>" }, replace: true }),
          ],
        },
      );
    }
    const details = { actor: definition.name, type: definition.type };
    await recordEvent(tx, this.#recordSource, { type: "actor.added", at, details });
    return { ...definition, version: 1, createdAt: at, updatedAt: at };
  }

  #refuseProviders({ name }: ActorDefinition): void {
    const { namespace } = nameParts(name);
    if (isAgentsNamespace(name)) {
      const message = `the namespace "${namespace}" belongs to agents that are known by name`;
      throw new ValidationError(`"${name}" cannot be the name of an actor: ${message}.`, [{ path: "name", message }]);
    }
    // The namespace "local" stays free for every user, even if a user names an endpoint "local".
    if (namespace.toLowerCase() === "local" || !isProviders(`${namespace}/`, this.#providers)) return;
    const message = `the namespace "${namespace}" belongs to the models of a provider`;
    throw new ValidationError(`"${name}" cannot be the name of an actor: ${message}.`, [{ path: "name", message }]);
  }

  async getActor(name: string): Promise<ListedActor> {
    return this.#store.read(async (reader) => {
      const actor = await requireActor(reader, name);
      return { ...actor, usedBy: await actionsUsing(reader, actor.name), neededBy: await graphsNeeding(reader, actor) };
    });
  }

  async listActors(namespace?: string): Promise<Actor[]> {
    return this.#store.read((reader) => findActors(reader, namespace));
  }

  /** Removes the actor unless an available action, an active plan or a graph names it. */
  async removeActor(name: string): Promise<Actor> {
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
            next: actions.slice(0, 5).map((action) => nextStep("action.archive", { action })),
          },
        );
      }
      const plans = await activePlansUsing(tx, actor.name);
      if (plans.length > 0) {
        throw new ConflictError(
          `The actor "${actor.name}" is needed by ${plans.length === 1 ? "an active plan" : `${plans.length} active plans`}.`,
          { expected: "no active plan that names it", actual: { plans } },
          { kept: "Nothing was changed.", next: plans.slice(0, 5).map((plan) => nextStep("plan.status", { plan })) },
        );
      }
      const graphs = await graphsNeeding(tx, actor);
      if (graphs.length > 0) {
        throw new ConflictError(
          `The actor "${actor.name}" is needed by ${graphs.length === 1 ? "the graph" : `${graphs.length} graphs:`} ${graphs.slice(0, 5).join(", ")}.`,
          { expected: "no graph that names it", actual: { graphs } },
          {
            kept: "Nothing was changed.",
            next: graphs.slice(0, 5).map((graph) => nextStep("actor.remove", { actor: graph })),
          },
        );
      }
      await deleteActor(tx, actor.name);
      const at = this.#recordSource.clock();
      const details = { actor: actor.name, type: actor.type };
      await recordEvent(tx, this.#recordSource, { type: "actor.removed", at, details });
      return actor;
    });
  }
}

async function graphsNeeding(reader: Reader, { name }: Actor): Promise<string[]> {
  const graphs = await findGraphs(reader);
  return graphs.filter((graph) => refersTo(graph, name)).map((graph) => graph.name);
}

async function requireActor(reader: Reader, text: string): Promise<Actor> {
  const name = parseQualifiedName(text, "actor");
  const actor = await findActor(reader, name);
  if (actor !== undefined) return actor;
  throw notFoundError("actor", name, await actorNames(reader));
}
