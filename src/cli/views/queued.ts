import { info, type Message } from "../terminal/outcome.ts";
import type { Picture } from "../terminal/show.ts";

/** A plan that was left to plan workers. */
export function queuedPicture({ planId, workers }: { readonly planId: string; readonly workers: number }): Picture {
  return { view: [], messages: [...info(`Plan ${planId} is queued.`), ...idleMessages(workers)] };
}

/** A queue without workers is not an error: the plan stays in it. */
export function idleMessages(workers: number): Message[] {
  if (workers > 0) return [];
  return [{ level: "warning", text: "No process works on the queue now; the plan stays in it until one does." }];
}
