import { AgentsError, ValidationError, type ErrorCode, type ErrorExtras } from "../../domain/errors/errors.ts";
import type { QualifiedName } from "../../domain/names/qualified-name.ts";
import { ModelError } from "../models/model-error.ts";

/** Where in a run of a graph something happened. */
export interface NodePlace {
  readonly graph: QualifiedName;
  readonly node: string;
  /** Counted from 1. */
  readonly round: number;
}

const KEPT = "Everything recorded up to here is kept; nodes that have run are not run again.";

/** A graph that cannot go on. What its nodes did and said until then is recorded. */
export class GraphError extends AgentsError {
  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(code, message, { kept: KEPT, ...extras });
  }
}

/** A node that cannot come to a result. Where it happened is added by whoever runs the node. */
export class NodeFailure extends Error {
  readonly code: Extract<ErrorCode, `graph_${string}`>;

  constructor(message: string, code: NodeFailure["code"] = "graph_failed") {
    super(message);
    this.code = code;
  }
}

/**
 * What went wrong with the node itself, with the node and the round. Everything else (a lost lease, a spent budget, a
 * stop, a full disk) is about the whole run and stays what it is, because whoever runs plans looks at its kind.
 */
export function placed(error: unknown, place: NodePlace): unknown {
  const { graph, node, round } = place;
  const where = `The node "${node}" of ${graph} failed in round ${round}`;
  const detail = { graph, node, round };
  if (error instanceof NodeFailure) return new GraphError(error.code, `${where}: ${error.message}.`, { detail });
  if (error instanceof ValidationError) return new GraphError("graph_failed", `${where}: ${error.message}`, { detail });
  if (error instanceof GraphError) {
    const { code, next } = error;
    // What an inner graph says of itself has its own place, which is the one to look at.
    return new GraphError(code, `${where}: ${error.message}`, {
      next,
      detail: { ...detail, within: error.detail },
      cause: error,
    });
  }
  if (error instanceof ModelError && error.kind !== "cancelled") {
    const { code, next } = error;
    return new GraphError(code, `${where}: ${error.message}`, {
      next,
      detail: { ...error.detail, ...detail },
      cause: error,
    });
  }
  return error;
}
