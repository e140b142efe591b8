import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"init"> = ({ dataDir, config, database, created, confinementNotice }) => {
  const paths = { data_dir: dataDir, config, database };
  const keys = ["data_dir", "config", "database"] as const;
  return {
    view: [
      {
        kind: "fields",
        title: "Environment",
        rows: keys.map((key) => [
          key.replace("_", " "),
          `${paths[key]} (${created.includes(key) ? "created" : "already exists"})`,
        ]),
      },
    ],
    messages: [...info(created.length === 0 ? "Already set up; nothing was changed." : "Ready."), confinementNotice],
  };
};
