import type { InboxDetails } from "../../app/queries/inbox-details.ts";
import { age, count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { cellText, toned, type Cell } from "../terminal/view.ts";
import { spendingCell } from "./parts.ts";
import { costText, standingCell } from "./standing-cell.ts";
import type { InboxWords } from "../terminal/inbox-screen.ts";

/** The inbox once, for a place where nothing can be drawn over. */
export const show: Show<"inbox"> = (output) => {
  const plans = output.changed ? output.plans : [];
  const now = Date.now();
  return {
    view: [
      {
        kind: "table",
        title: "Inbox",
        columns: [{ keep: "#" }, "Request", { keep: "State" }, "Needs", "Where", "Files", "Cost", "Age"],
        rows: plans.map((plan): Cell[] => [
          String(plan.number),
          plan.request,
          standingCell(plan.standing),
          toned([plan.needs ?? "", ...sameText(plan.sameFiles)].filter((text) => text !== "").join("; "), "warn"),
          plan.here ? "here" : plan.projects.join(", "),
          plan.changedFiles === 0 ? "-" : String(plan.changedFiles),
          costText(plan.cost),
          age(now - Date.parse(plan.updatedAt)),
        ]),
        empty: "No plans.",
      },
    ],
    messages: info(
      `${count(plans.filter(({ needs }) => needs !== null).length, "plan")} of ${plans.length} wait for you.`,
    ),
  };
};

function sameText(numbers: readonly number[]): string[] {
  return numbers.length === 0 ? [] : [`same file as ${numbers.join(", ")}`];
}

/** Costs, spelled as everywhere. */
export const WORDS: InboxWords = {
  cost: ({ cost }) => costText(cost),
  spent: ({ cost }: InboxDetails) => cellText(spendingCell(cost)),
};
