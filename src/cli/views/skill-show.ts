import { nextStep } from "../../domain/errors/next-step.ts";
import type { Show } from "../terminal/show.ts";
import { skillState } from "./skill-view.ts";

export const show: Show<"skill.show"> = ({ skill }) => {
  const { license, compatibility, allowedTools, metadata, files, problem, instructions } = skill;
  return {
    view: [
      {
        kind: "fields",
        title: skill.name,
        rows: [
          ["description", skill.description],
          ["from", skill.folder === null ? "a file" : `${skill.from}: ${skill.folder}`],
          ["state", skillState(skill)],
          ...(skill.tools.length === 0 ? [] : ([["tools", skill.tools.join(", ")]] as const)),
          ...(skill.includes.length === 0 ? [] : ([["includes", skill.includes.join(", ")]] as const)),
          ...(license === null ? [] : ([["license", license]] as const)),
          ...(compatibility === null ? [] : ([["compatibility", compatibility]] as const)),
          ...(allowedTools.length === 0
            ? []
            : ([["allowed-tools (grants nothing)", allowedTools.join(", ")]] as const)),
          ...Object.entries(metadata).map(([key, value]) => [key, value] as const),
          ...(files.length === 0 ? [] : ([["files", files.join(", ")]] as const)),
          ...(problem === null ? [] : ([["problem", problem]] as const)),
        ],
      },
      ...(instructions === ""
        ? []
        : ([{ kind: "lines", title: "Instructions", lines: instructions.split("\n") }] as const)),
    ],
    messages: [],
    next: problem === null || skill.folder === null ? [] : [nextStep("skill.check", { folder: skill.folder })],
  };
};
