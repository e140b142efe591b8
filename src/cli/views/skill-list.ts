import { nextStep } from "../../domain/errors/next-step.ts";
import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { skillState } from "./skill-view.ts";

export const show: Show<"skill.list"> = ({ skills, summary }) => ({
  view: [
    {
      kind: "table",
      title: "Skills",
      columns: [{ keep: "Name" }, "From", "State", "Folder", "Description"],
      rows: skills.map((skill) => [
        skill.name,
        skill.from,
        skillState(skill),
        skill.folder ?? "",
        skill.problem ?? skill.description,
      ]),
      empty: "No skills here yet.",
    },
  ],
  messages: info(`Plans here have ${count(summary.ready, "skill")}.`),
  next: summary.total === 0 ? [nextStep("skill.add", { folder: "<folder>" })] : [],
});
