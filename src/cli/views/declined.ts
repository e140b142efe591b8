import type { Picture } from "../terminal/show.ts";

/** The result of a command whose question was answered with no. */
export function declined(
  deed:
    | "added"
    | "accepted"
    | "run"
    | "deleted"
    | "removed"
    | "executed"
    | "applied"
    | "undone"
    | "redone"
    | "resolved"
    | "rolled back",
): Picture {
  return { view: [], messages: [{ level: "warning", text: `Nothing was ${deed}.` }], status: "warn", next: [] };
}
