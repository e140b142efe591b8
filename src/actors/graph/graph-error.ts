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

/** A graph that cannot continue. The results and answers of its nodes until then are recorded. */
export class GraphError extends AgentsError {
  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(code, message, { kept: KEPT, ...extras });
  }
}

/** A node that cannot come to a result. The caller that runs the node adds where it happened. */
export class NodeFailure extends Error {
  readonly code: Extract<ErrorCode, `graph_${string}`>;

  constructor(message: string, code: NodeFailure["code"] = "graph_failed") {
    super(message);
    this.code = code;
  }
}

/**
 * An error of the node itself, with the node and the round added. Everything else (a lost lease, a spent budget, a
 * stop, a full disk) is about the whole run and stays as it is, because the plan's executor looks at its kind.
 */
export function placedError(error: unknown, place: NodePlace): unknown {
  const { graph, node, round } = place;
  const where = `The node "${node}" of ${graph} failed in round ${round}`;
  const detail = { graph, node, round };
  if (error instanceof NodeFailure) return new GraphError(error.code, `${where}: ${error.message}.`, { detail });
  if (error instanceof ValidationError) return new GraphError("graph_failed", `${where}: ${error.message}`, { detail });
  if (error instanceof GraphError) {
    const { code, next } = error;
    // The error of an inner graph already names its own node, which is the one to look at.
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
