import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"skill.check"> = ({ folder, valid, problems, warnings }) => {
  const text = ({ file, line, column, message }: (typeof problems)[number]): string =>
    `${file}${line === null ? "" : `:${line}:${column ?? 1}`}: ${message}`;
  return {
    view: [],
    messages: [
      ...problems.map((one) => ({ level: "error", text: text(one) }) as const),
      ...warnings.map((one) => ({ level: "warning", text: text(one) }) as const),
      ...(valid ? info(`${folder} is a valid skill.`) : []),
    ],
    next: [],
    ...(valid ? {} : { status: "error" as const }),
  };
};
