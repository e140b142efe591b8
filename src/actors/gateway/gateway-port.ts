/**
 * The seam of the gateway: everything that is decided before a request goes out, and everything that is done with what
 * came back. The budget of a run stands here; a plan that lets another agent work records its rounds here. While
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
  /** Whether the answer is wanted as a stream. */
  readonly streams: boolean;
  /** How many secrets were masked in it. */
  readonly masked: number;
  readonly bound: UpperBound;
}

/** An answer that was recorded before: the client gets it as if it came from the provider. */
export interface GivenAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

export type GatewayVerdict =
  /** Sent. With `hold` the client sees nothing of the answer, or of its calls, before `after` has agreed to it. */
  | { readonly pass: true; readonly hold?: "all" | "calls" }
  /** Refused in the form that makes an agent stop. */
  | { readonly pass: false; readonly reason: AgentsError }
  /** Not sent. */
  | { readonly pass: "given"; readonly answer: GivenAnswer };

/** How a request ended. `body` is all that came, whole and unchanged. */
export type GatewayAnswer =
  | {
      readonly answered: true;
      readonly status: number;
      readonly contentType: string;
      readonly body: string;
      readonly usage: ModelUsage;
      readonly durationMs: number;
    }
  | {
      readonly answered: false;
      readonly body: string;
      readonly error: string;
      /** False only when it is certain to have cost nothing. */
      readonly mayBeBilled: boolean;
      /** The client went away before it had an answer: it did not want one any more. */
      readonly unwanted: boolean;
      readonly durationMs: number;
    };

export interface GatewayPort {
  /** Before anything is sent. */
  before(request: GatewayRequest): Promise<GatewayVerdict>;
  /**
   * Once for each request that was sent, in the order in which they ended. The client sees the end of its answer after
   * this; of an answer that was held, it sees nothing when this returns an error.
   */
  after(request: GatewayRequest, answer: GatewayAnswer): Promise<AgentsError | void>;
}
