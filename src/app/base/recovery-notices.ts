import type { Recovered } from "../../apply/plan-recovery.ts";
import type { NoticeEvent } from "../../domain/run-event.ts";

/** A living owner at work is not worth a notice, unless it has been working for this long. */
const LONG_MS = 10_000;

/** The notices about landings that other processes left half done. */
export function recoveryNotices(recovered: readonly Recovered[], now: number = Date.now()): NoticeEvent[] {
  return recovered.flatMap(({ planId, kind: what, result, obstacle, next, kept, holder, since }): NoticeEvent[] => {
    const kind = what === "step" ? "step in place" : what;
    if (result === "busy") {
      if (now - since < LONG_MS) return [];
      const text = `The ${kind} of plan ${planId} has been under way for long; ${holder} holds its resources and is running or stopped.`;
      return [{ type: "notice", level: "warning", text }];
    }
    if (result === "blocked") {
      const text = `The ${kind} of plan ${planId} was interrupted and cannot be finished or undone yet: ${obstacle ?? ""}`;
      return [{ type: "notice", level: "warning", text, ...(next === undefined ? {} : { next }) }];
    }
    const before = kept.length === 0 ? "was undone now, every resource is as before" : "was undone now";
    const outcome = result === "done" ? "was finished now" : before;
    const left = kept.length === 0 ? "" : ` Left alone, because they were changed in the meantime: ${kept.join(", ")}.`;
    return [
      {
        type: "notice",
        level: "warning",
        text: `The ${kind} of plan ${planId} had been interrupted; it ${outcome}.${left}`,
      },
    ];
  });
}
