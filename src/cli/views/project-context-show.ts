import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { allViewsTable, settingsTable } from "./policy-tables.ts";

export const show: Show<"project.context.show"> = ({ project, views, customized }, { input }) => {
  const [only, ...others] = Object.entries(views);
  const one = input.view !== undefined && only !== undefined && others.length === 0;
  return {
    view: [one ? settingsTable(only[0], only[1]) : allViewsTable(views)],
    messages: info(
      customized
        ? `A view takes what it does not set from the one before it: ${Object.keys(views).join(", ")}.`
        : `${project} sets nothing itself: everything is as built in.`,
    ),
  };
};
