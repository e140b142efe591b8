/**
 * Whether an agent of version 2 of the protocol works. There an answer to a prompt only says that it was taken; the end
 * of the work is the first `idle` after a state of work. An idle state that is told again ends nothing.
 */
import * as z from "zod";

const State = z.object({
  update: z.object({
    sessionUpdate: z.literal("state_update"),
    state: z.string(),
    stopReason: z.string().nullish().catch(undefined),
    error: z.unknown().optional(),
  }),
});

export interface WorkEnd {
  readonly stopReason: string;
  /** With the reason `error`. */
  readonly error: unknown;
}

export class TurnState {
  #worked = false;
  #ended = Promise.withResolvers<WorkEnd>();

  /** A prompt is about to be sent: the end of what comes from now on. */
  begin(): Promise<WorkEnd> {
    this.#worked = false;
    this.#ended = Promise.withResolvers();
    return this.#ended.promise;
  }

  take(params: unknown): void {
    const read = State.safeParse(params);
    if (!read.success) return;
    const { state, stopReason, error } = read.data.update;
    // A state that is not known is not idle.
    if (state !== "idle") this.#worked = true;
    else if (this.#worked) this.#ended.resolve({ stopReason: stopReason ?? "end_turn", error });
  }
}
