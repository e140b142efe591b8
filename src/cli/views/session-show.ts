import type { OutputOf } from "../../app/table/operation-table.ts";
import { count, shortInstant } from "../terminal/format.ts";
import type { Show } from "../terminal/show.ts";
import { toned, type Cell, type Element } from "../terminal/view.ts";
import { firstFew } from "./parts.ts";
import { costText, standingCell } from "./standing-cell.ts";

type Output = OutputOf<"session.show">;
type Turn = Output["turns"][number];

export const show: Show<"session.show"> = (session) => ({
  view: [
    {
      kind: "fields",
      title: session.title,
      rows: [
        ["Session", `${session.number} (${session.sessionId})`],
        ["State", standingCell(session.state)],
        ["Project", `${session.project}, ${session.directory}`],
        ["Plans", `${session.plans}, ${costText(session.cost)}`],
        ...(session.forkedFrom === null ? [] : [["Forked from", session.forkedFrom] as const]),
      ],
    },
    ...session.turns.map(turnElement),
  ],
  messages: [],
});

function turnElement(turn: Turn): Element {
  return {
    kind: "lines",
    title: `${turn.turn}. ${shortInstant(Date.parse(turn.createdAt))}, plan ${turn.planId}${turn.shared ? ", before the fork" : ""}`,
    lines: [
      ...turn.exchanges.flatMap(({ request, answer }, index): Cell[] => [
        ...prefixed("> ", request),
        ...(index === 0 ? turn.remarks.flatMap(remarkLines) : []),
        ...(answer === null ? [] : answer.split("\n")),
      ]),
      ...(turn.awaitingInput === null ? [] : [toned(`? ${turn.awaitingInput}`, "warn")]),
      ...(turn.failure === null ? [] : [toned(`Stopped: ${turn.failure}`, "bad")]),
      ...(turn.decisions ?? []).flatMap(decisionLines),
      outcomeLine(turn),
    ],
  };
}

function remarkLines({ question, text }: Turn["remarks"][number]): Cell[] {
  return [...(question === null ? [] : [`? ${question}`]), ...prefixed("> ", text)];
}

function prefixed(mark: string, text: string): Cell[] {
  return text.split("\n").map((line) => toned(`${mark}${line}`, "strong"));
}

function decisionLines({ question, calls }: NonNullable<Turn["decisions"]>[number]): Cell[] {
  return [
    toned(`· ${question}`, "dim"),
    ...calls.map(({ tool, outcome, error }) => toned(`  ${tool}: ${error ?? outcome}`, "dim")),
  ];
}

function outcomeLine({ standing, changes, landings, cost, cancelReason }: Turn): Cell {
  const { files, insertions, deletions } = changes;
  const commits = landings.flatMap(({ commit }) => (commit === null ? [] : [commit.slice(0, 10)]));
  const parts = [
    `${standing}${commits.length === 0 ? "" : ` as ${commits.join(", ")}`}${cancelReason === null ? "" : `: ${cancelReason}`}`,
    ...(files.length === 0
      ? []
      : [`${count(files.length, "file")} (+${insertions} −${deletions}): ${firstFew(files.map(({ path }) => path))}`]),
    ...(cost.calls === 0 ? [] : [costText(cost)]),
  ];
  return toned(`[${parts.join("; ")}]`, "dim");
}
