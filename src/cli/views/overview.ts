import { VERSION } from "../../app/base/package-version.ts";
import { count } from "../terminal/format.ts";
import type { Waiting } from "../../app/queries/inbox.ts";
import type { Show } from "../terminal/show.ts";
import { toned, type Element } from "../terminal/view.ts";
import { spellNext } from "../words/spell-next.ts";

export const show: Show<"overview"> = (output) => {
  const title = `CleverAgents ${VERSION}`;
  if (!output.initialised) {
    return { view: [{ kind: "lines", title, lines: ["Nothing is set up here yet."] }], messages: [] };
  }
  const { actions, projects, plans, waiting } = output;
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
      ...(waiting.length === 0 ? [] : [waitingTable(waiting)]),
    ],
    messages: [],
  };
};

function waitingTable(waiting: readonly Waiting[]): Element {
  return {
    kind: "table",
    title: "Waiting for you",
    columns: ["Request", "Needs", { keep: "Command" }],
    rows: waiting.map(({ request, needs, next }) => [request, toned(needs, "warn"), spellNext(next)]),
    empty: "",
  };
}
