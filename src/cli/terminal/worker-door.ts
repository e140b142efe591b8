/** The loop of plan workers is a room of its own, handed to the command line, which starts it. */
import type { OpenOptions } from "../../app/open.ts";
import type { Tell } from "../../domain/run-event.ts";

/** The door of the loop, as far as the command line knows it; how many plans came to an end. */
export type WorkOnPlans = (parts: {
  readonly open: OpenOptions;
  readonly workers: number;
  readonly perProject: number | undefined;
  readonly untilEmpty: boolean;
  readonly signal: AbortSignal;
  readonly tell: Tell;
}) => Promise<number>;
