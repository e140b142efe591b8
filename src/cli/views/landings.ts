/** The files that an apply, undo or redo writes, and where: before the question, and afterwards. */
import type * as z from "zod";
import type { HeldFacts, LandingFacts, LandingPreview } from "../../app/queries/landing-facts.ts";
import { info, type Message } from "../terminal/outcome.ts";
import { oneLine } from "../terminal/terminal-text.ts";
import type { Element } from "../terminal/view.ts";
import { firstFew } from "./parts.ts";

type Landing = z.output<typeof LandingFacts>;

export function previewText({ landings, conflicts, held }: z.output<typeof LandingPreview>): string {
  const lines = landings.map(({ resource, path, branch, checkedOut, newBranch, files }) => {
    if (newBranch === true) return `${resource}: ${path} (new branch ${branch})`;
    const where = branch === null ? "" : ` (${branch}${checkedOut === true ? "" : ", not checked out"})`;
    return `${resource}: ${path}${where}: ${firstFew(files)}`;
  });
  const stays = held.map(
    ({ resource, path, plans }) => `stays: ${resource}/${path}, which plan ${plans.join(", plan ")} made too`,
  );
  const problems = conflicts.map(
    ({ resource, path, why }) => `conflict: ${[resource, path].filter(Boolean).join("/")} ${why}`,
  );
  return [...lines, ...stays, ...problems].map((line) => `${oneLine(line)}\n`).join("");
}

/** One place is named in the sentence of the result, and needs no table. */
export function landingTables(title: "Applied" | "Undone" | "Redone", landings: readonly Landing[]): Element[] {
  if (landings.length === 1) return [];
  const table: Element = {
    kind: "table",
    title,
    columns: [{ keep: "Resource" }, "Branch", "Commit", "Files", "Path"],
    rows: landings.map(({ resource, path, branch, commit, checkedOut, newBranch, files }) => [
      resource,
      branch ?? "-",
      commit?.slice(0, 10) ?? "-",
      newBranch === true ? "new branch" : checkedOut === false ? "not checked out" : String(files.length),
      path,
    ]),
    empty: "All of it was already there.",
  };
  return [table];
}

/** " to main of /home/me/shop (commit c0ffee0000)", of one place. */
export function placeText(word: "in" | "to", landings: readonly Landing[]): string {
  const [landing, ...more] = landings;
  if (landing === undefined || more.length > 0) return "";
  const { path, branch, commit, checkedOut, newBranch } = landing;
  if (branch === null) return ` ${word} ${path}`;
  const notes = [
    ...(commit === null ? [] : [`commit ${commit.slice(0, 10)}`]),
    ...(checkedOut === false ? ["not checked out"] : []),
  ];
  const made = newBranch === true ? "the new branch " : "";
  return ` ${word} ${made}${branch} of ${path}${notes.length === 0 ? "" : ` (${notes.join(", ")})`}`;
}

/** Changes that others made too stay, and a person should know why the files are as they were. */
export function heldMessages(held: readonly z.output<typeof HeldFacts>[]): Message[] {
  const byPlans = Map.groupBy(held, ({ plans }) => plans.join(", plan "));
  return [...byPlans].flatMap(([plans, changes]) => {
    const names = changes.map(({ resource, path }) => `${resource}/${path}`);
    return info(`${firstFew(names)}: plan ${plans} made the same change, which stays.`);
  });
}
