import type { Show } from "../terminal/show.ts";
import { contextMessages, type SeenContext } from "./context-messages.ts";
import {
  exclusionsTable,
  fragmentsTable,
  gapsElement,
  strategiesTable,
  summaryElement,
  traceTable,
} from "./context-tables.ts";

export const show: Show<"project.context.simulate"> = (output, { verbose }) => {
  const { query, focus, project, view, budget: available, budgetSource } = output.simulation;
  const seen: SeenContext = { ...output, query, focus, available };
  return {
    view: [
      summaryElement("Simulation", { ...seen, project, view, budgetSource }),
      strategiesTable(seen),
      fragmentsTable(seen, verbose),
      exclusionsTable(seen),
      ...gapsElement(seen),
      traceTable(seen),
    ],
    messages: [{ level: "info", text: "A simulation: nothing was changed but the index." }, ...contextMessages(seen)],
  };
};
