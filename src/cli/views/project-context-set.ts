import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { settingsTable } from "./policy-tables.ts";

export const show: Show<"project.context.set"> = ({ project, view, views, cleared, inheritedBy }) => {
  const settings = views[view];
  const others = inheritedBy.length === 0 ? "" : `; inherited by ${inheritedBy.join(", ")}`;
  return {
    view: settings === undefined ? [] : [settingsTable(view, settings)],
    messages: info(`${cleared ? "Cleared and set" : "Set"} what the view ${view} of ${project} shows${others}.`),
  };
};
