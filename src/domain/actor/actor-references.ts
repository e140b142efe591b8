import type { ActorDefinition } from "./actor.ts";
import { nameKey, type QualifiedName } from "../names/qualified-name.ts";

/** Another actor that a node of a graph needs, and of which type it must be. */
export interface ActorReference {
  readonly node: string;
  readonly actor: QualifiedName;
  readonly type: "llm" | "graph";
}

/** The other actors a definition needs, node by node. */
export function actorReferences(actor: ActorDefinition): ActorReference[] {
  if (actor.type !== "graph") return [];
  return actor.route.nodes.flatMap((node): ActorReference[] => {
    if (node.type === "subgraph") return [{ node: node.id, actor: node.actorRef, type: "graph" }];
    if (node.type !== "llm" || node.actorRef === undefined) return [];
    return [{ node: node.id, actor: node.actorRef, type: "llm" }];
  });
}

export function refersTo(actor: ActorDefinition, other: QualifiedName): boolean {
  return actorReferences(actor).some((reference) => nameKey(reference.actor) === nameKey(other));
}
