/** The changes of a plan one by one, as `git add -p` goes through them. Each answer is recorded before the next one. */
import type { ReviewMark, Verdict } from "../../ledger/reviews.ts";
import type { ReviewFile, ReviewUnit } from "../../changes/review-files.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";
import { unitLines, verdictOf, type Reviewable } from "../queries/review-facts.ts";
import { mark } from "./review-plan.ts";

/** A hunk, or a part of one that was split. */
interface Item {
  readonly file: ReviewFile;
  readonly units: readonly ReviewUnit[];
}

/** The facts that a surface draws before it asks. */
export interface WalkedChange {
  readonly place: string;
  readonly path: string;
  readonly header: readonly string[];
  readonly lines: readonly string[];
  readonly verdict: string;
  readonly comments: readonly string[];
  readonly by: Awaited<ReturnType<Reviewable["credits"]>>;
}

const HELP = [
  "y accept   n reject, with a reason   c comment   s split into smaller changes",
  "a accept the rest of this file   d reject the rest of this file",
  "j next   k previous   q stop here: everything is kept   ? this help",
].join("\n");

export async function walk(app: App, begun: Reviewable, call: Call): Promise<Reviewable> {
  let seen = begun;
  let items = seen.files.flatMap((file) =>
    [...Map.groupBy(file.units, ({ hunk }) => hunk)].map(([, units]): Item => ({ file, units })),
  );
  const isOpen = ({ units }: Item): boolean => units.some((unit) => verdictOf(seen.review, unit) === "undecided");
  let at = Math.max(0, items.findIndex(isOpen));
  let isShown = true;
  const text = async (question: string, shown: readonly WalkedChange[] = []): Promise<string> => {
    const reply = await call.ask({
      kind: "review",
      text: question,
      shown: shown.map((output) => ({ kind: "change", output })),
    });
    return reply.kind === "text" ? reply.text.trim() : "";
  };
  const decide = async (some: readonly Item[], verdict: Verdict): Promise<void> => {
    const why = verdict === "accepted" ? "" : await text("Why? It is told to the agent; Enter for no reason: ");
    const change = { verdict, reason: why === "" ? undefined : why };
    seen = await mark(
      app,
      seen,
      marksOf(seen, some, (old) => ({ ...old, ...change })),
    );
  };
  while (at < items.length) {
    const item = items[at];
    if (item === undefined) break;
    const rest = items.slice(at).filter(({ file }) => file === item.file);
    const shownNow = isShown ? [await shownChange(seen, item, `${at + 1} of ${items.length}`)] : [];
    isShown = true;
    const key = await text("Accept this change [y,n,c,s,a,d,j,k,q,?]? ", shownNow);
    if (key === "y" || key === "n") {
      await decide([item], key === "y" ? "accepted" : "rejected");
      at += 1;
    } else if (key === "a" || key === "d") {
      await decide(rest, key === "a" ? "accepted" : "rejected");
      at += rest.length;
    } else if (key === "c") {
      const comment = await text("Comment: ");
      const marks = marksOf(seen, [item], (old) => ({ ...old, comment: comment === "" ? undefined : comment }));
      seen = await mark(app, seen, marks);
    } else if (key === "s" && item.units.length > 1) {
      items = items.flatMap((one) =>
        one === item ? one.units.map((unit) => ({ file: one.file, units: [unit] })) : [one],
      );
    } else if (key === "j") at += 1;
    else if (key === "k") at = Math.max(0, at - 1);
    else if (key === "q" || key === "") break;
    else {
      call.tell({ type: "notice", level: "info", text: key === "s" ? "This change cannot be split." : HELP });
      isShown = false;
    }
  }
  return seen;
}

function marksOf(
  { review }: Reviewable,
  items: readonly Item[],
  change: (old: ReviewMark) => ReviewMark,
): Map<string, ReviewMark> {
  const none: ReviewMark = { verdict: undefined, reason: undefined, comment: undefined };
  return new Map(
    items.flatMap(({ units }) => units.map(({ id }) => [id, change(review.marks.get(id) ?? none)] as const)),
  );
}

async function shownChange(seen: Reviewable, { file, units }: Item, place: string): Promise<WalkedChange> {
  const verdicts = new Set(units.map((unit) => verdictOf(seen.review, unit)));
  const marks = units.map(({ id }) => seen.review.marks.get(id));
  const [first] = units;
  const hunk = first?.kind === "lines" ? file.hunks[(first.hunk ?? 1) - 1] : undefined;
  const isWhole = file.units.filter((unit) => unit.hunk === first?.hunk).length === units.length;
  return {
    place,
    path: file.renamedFrom === undefined ? file.shownAs : `${file.renamedFrom} → ${file.shownAs}`,
    header: hunk === undefined ? [] : [hunk.header],
    lines:
      hunk !== undefined && isWhole
        ? hunk.lines
        : hunk === undefined
          ? units.flatMap((unit) => unitLines(file, unit))
          : around(file, units),
    verdict: verdicts.size === 1 ? ([...verdicts][0] ?? "undecided") : "partly decided",
    comments: [...new Set(marks.flatMap((one) => [one?.reason, one?.comment]).flatMap((one) => one ?? []))],
    by: await seen.credits(file, units),
  };
}

const CONTEXT = 3;

/** A part of a hunk with the lines around it that no part changes. */
function around(file: ReviewFile, [unit]: readonly ReviewUnit[]): readonly string[] {
  const lines = file.hunks[(unit?.hunk ?? 1) - 1]?.lines ?? [];
  const { from = 0, to = lines.length } = unit?.group ?? {};
  const others = file.units.flatMap((one) => (one.hunk === unit?.hunk && one !== unit ? (one.group ?? []) : []));
  const first = Math.max(from - CONTEXT, 0, ...others.map((one) => one.to).filter((end) => end <= from));
  const last = Math.min(to + CONTEXT, lines.length, ...others.map((one) => one.from).filter((start) => start >= to));
  return lines.slice(first, last);
}
