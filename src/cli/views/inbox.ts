import type { InboxDetails } from "../../app/queries/inbox-details.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { age, count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { cellText, toned, type Cell } from "../terminal/view.ts";
import { spendingCell } from "./parts.ts";
import { costText, standingCell } from "./standing-cell.ts";
import type { InboxWords } from "../terminal/inbox-screen.ts";

/** Narrower than this, the need is worth more than the amounts. */
const AMOUNTS_FROM = 100;

/** The inbox once, for a place where nothing can be drawn over. */
export const show: Show<"inbox"> = (output, { screen }) => {
  const plans = output.changed ? output.plans : [];
  // Where all are in one place, the place is not worth a column.
  const places = new Set(plans.map(placeOf)).size > 1;
  const amounts = screen.columns === undefined || screen.columns >= AMOUNTS_FROM;
  const now = Date.now();
  return {
    view: [
      {
        kind: "table",
        title: "Inbox",
        columns: [
          { keep: "#" },
          "Request",
          { keep: "State" },
          "Needs",
          ...(places ? ["Where"] : []),
          ...(amounts ? ["Files", "Cost"] : []),
          "Age",
        ],
        rows: plans.map((plan): Cell[] => [
          String(plan.number),
          plan.request,
          standingCell(plan.standing),
          toned([plan.needs ?? "", ...sameText(plan.sameFiles)].filter((text) => text !== "").join("; "), "warn"),
          ...(places ? [placeOf(plan)] : []),
          ...(amounts ? [plan.changedFiles === 0 ? "-" : String(plan.changedFiles), costText(plan.cost)] : []),
          age(now - Date.parse(plan.updatedAt)),
        ]),
        empty: "No plans.",
      },
    ],
    messages:
      plans.length === 0
        ? []
        : info(`${count(plans.filter(({ needs }) => needs !== null).length, "plan")} of ${plans.length} wait for you.`),
    next: plans.length === 0 ? [nextStep("run", { request: "<what you want done>" })] : [],
  };
};

function placeOf({ here, projects }: { readonly here: boolean; readonly projects: readonly string[] }): string {
  return here ? "here" : projects.join(", ");
}

function sameText(numbers: readonly number[]): string[] {
  return numbers.length === 0 ? [] : [`same file as ${numbers.join(", ")}`];
}

/** Costs, spelled as everywhere. */
export const WORDS: InboxWords = {
  cost: ({ cost }) => costText(cost),
  spent: ({ cost }: InboxDetails) => cellText(spendingCell(cost)),
};
