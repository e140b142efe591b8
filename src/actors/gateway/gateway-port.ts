/**
 * The seam of the gateway: everything that is decided before a request goes out, and everything that is done with what
 * came back. The budget of a run stands here; a plan that lets another agent work will record its rounds here. While
 * `before` waits, the agent that asks stands still.
 */
import type { AgentsError } from "../../domain/errors/errors.ts";
import type { JsonObject } from "../../domain/values/json.ts";
import type { ModelRef, ModelUsage, UpperBound } from "../models/model.ts";
import type { Dialect } from "./dialects.ts";

export interface GatewayRequest {
  /** Different for each request of one gateway. */
  readonly id: string;
  readonly dialect: Dialect;
  readonly model: ModelRef;
  /** Exactly what goes to the provider, with secrets masked and limits lowered. */
  readonly shown: JsonObject;
  /** How many secrets were masked in it. */
  readonly masked: number;
  readonly bound: UpperBound;
}

export type GatewayVerdict = { readonly pass: true } | { readonly pass: false; readonly reason: AgentsError };

/** How a request ended. `body` is all that came, whole and unchanged. */
export type GatewayAnswer =
  | { readonly answered: true; readonly body: string; readonly usage: ModelUsage; readonly durationMs: number }
  | {
      readonly answered: false;
      readonly body: string;
      readonly error: string;
      /** False only when it is certain to have cost nothing. */
      readonly mayBeBilled: boolean;
      readonly durationMs: number;
    };

export interface GatewayPort {
  /** Before anything is sent. */
  before(request: GatewayRequest): Promise<GatewayVerdict>;
  /**
   * Once for each request that passed, in the order in which they ended. The client sees the end of its answer after
   * this.
   */
  after(request: GatewayRequest, answer: GatewayAnswer): Promise<void>;
}
