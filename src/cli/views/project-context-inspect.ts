import type { OutputOf } from "../../app/table/operation-table.ts";
import type { Show } from "../terminal/show.ts";
import type { View } from "../terminal/view.ts";
import { breakersTable } from "./context-breakers-list.ts";
import { contextMessages, type SeenContext } from "./context-messages.ts";
import {
  entityNames,
  exclusionsTable,
  fragmentsTable,
  gapsElement,
  graphTable,
  strategiesTable,
  summaryElement,
} from "./context-tables.ts";

type Output = OutputOf<"project.context.inspect">;

export const show: Show<"project.context.inspect"> = (output, { verbose }) => {
  const { inspection, budget, ukoGraph, breakers } = output;
  const { query, focus, project, view } = inspection;
  const seen: SeenContext = { ...output, query, focus, available: budget.availableBudget };
  return {
    view: [
      summaryElement("Context", { ...seen, project, view, budgetSource: budget.source }),
      ...graphTable(ukoGraph, entityNames(seen)),
      strategiesTable(seen),
      fragmentsTable(seen, verbose),
      exclusionsTable(seen),
      ...gapsElement(seen),
      ...failing(breakers),
    ],
    messages: contextMessages(seen),
  };
};

/** Only those that have anything to tell. */
function failing(breakers: Output["breakers"]): View {
  const some = breakers.filter(({ state, failures }) => state !== "closed" || failures > 0);
  return some.length === 0 ? [] : [breakersTable(some)];
}
