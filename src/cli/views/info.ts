import { count } from "../terminal/format.ts";
import type { Show } from "../terminal/show.ts";
import { spendingCell } from "./parts.ts";

function sizeOf({ kind, exists, sizeBytes }: Parameters<Show<"info">>[0]["database"]): string {
  if (kind === "postgresql") return "PostgreSQL, shared";
  return exists ? `${sizeBytes} bytes` : "not there yet";
}

export const show: Show<"info"> = (output) => {
  const { version, node, sqlite, platform, dataDir, config, configExists, database, user, counts, costToday } = output;
  const holds = (all: NonNullable<typeof counts>): string =>
    [count(all.actions, "action"), count(all.projects, "project"), count(all.plans, "plan")].join(", ");
  return {
    view: [
      {
        kind: "fields",
        title: "CleverAgents",
        rows: [
          ["version", `${version} (Node ${node}, SQLite ${sqlite ?? "?"}, ${platform})`],
          ["data directory", dataDir],
          ["database", `${database.path} (${sizeOf(database)})`],
          ["configuration", configExists ? config : `${config} (not there, defaults apply)`],
          ["user", user],
          ...(counts === null ? [] : [["holds", holds(counts)] as const]),
          ...(costToday === null ? [] : [["models today", spendingCell(costToday)] as const]),
        ],
      },
    ],
    messages: [],
  };
};
