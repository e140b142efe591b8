import type { OutputOf } from "../../app/table/operation-table.ts";
import type { WalkedChange } from "../../app/procedures/review-walk.ts";
import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import { painter, type Screen } from "../terminal/render.ts";
import type { Show } from "../terminal/show.ts";
import { joined, oneLine, type Text } from "../terminal/terminal-text.ts";
import { toned, type Cell } from "../terminal/view.ts";
import { creditText, hunkLines } from "./patch.ts";

type Change = OutputOf<"plan.review">["files"][number]["changes"][number];

const VERDICT_TONES = { accepted: "good", rejected: "bad", undecided: "dim" } as const;

export const show: Show<"plan.review"> = ({ files, summary, sentBack, revision }) => {
  const { accepted, rejected, undecided } = summary;
  const told = sentBack ? info("The plan was told what was rejected, and continues with that.") : [];
  return {
    view: [
      {
        kind: "table",
        title: "Review",
        columns: [{ keep: "Change" }, "Verdict", "+", "−", "By", "Reason"],
        rows: files.flatMap(({ changes }) => changes.map(row)),
        empty: "The plan changed nothing.",
      },
    ],
    messages: [
      ...info(
        `${count(accepted, "change")} accepted, ${rejected} rejected, ${undecided} undecided (revision ${revision}).`,
      ),
      ...told,
    ],
  };
};

function row({ name, verdict, insertions, deletions, by, reason, comment }: Change): Cell[] {
  const why = [reason, comment === null ? null : `comment: ${comment}`].filter((one) => one !== null).join("; ");
  return [
    name,
    toned(verdict, VERDICT_TONES[verdict]),
    toned(String(insertions), "good"),
    toned(String(deletions), "bad"),
    [...new Set(by.map(({ step }) => step))].join(", "),
    why,
  ];
}

/** One change, in front of the question about it. */
export function changeText(change: WalkedChange, screen: Screen): Text {
  const paint = painter(screen);
  const { place, path, header, lines, verdict, comments, by } = change;
  const state = verdict === "undecided" ? "" : ` — ${verdict}`;
  const drawn: Text[] = [
    "",
    paint(oneLine(`${path} (${place})${state}`), "strong"),
    ...header.map((line) => paint(line, "dim")),
    ...by.map((one) => paint(`  ${creditText(one)}`, "dim")),
    ...comments.map((one) => paint(`  said: ${oneLine(one)}`, "warn")),
    ...hunkLines({ lines }, screen),
  ];
  return [...joined(drawn, "\n"), "\n"];
}
