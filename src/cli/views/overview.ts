import { VERSION } from "../../app/base/package-version.ts";
import { count } from "../terminal/format.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"overview"> = (output) => {
  const title = `CleverAgents ${VERSION}`;
  if (!output.initialised) {
    return { view: [{ kind: "lines", title, lines: ["Nothing is set up here yet."] }], messages: [] };
  }
  const { actions, projects, plans } = output;
  const { active, stopped, applied, cancelled } = plans;
  return {
    view: [
      {
        kind: "fields",
        title,
        rows: [
          ["actions", String(actions)],
          ["projects", String(projects)],
          ["plans", `${count(active, "active plan")}, ${stopped} stopped, ${applied} applied, ${cancelled} cancelled`],
        ],
      },
    ],
    messages: [],
  };
};
