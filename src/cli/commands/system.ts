import { existsSync, statSync } from "node:fs";
import type { CommandContext } from "../command-context.ts";
import { commandsHere } from "../confinement-line.ts";
import { count } from "../format.ts";
import { info as say, type Outcome } from "../outcome.ts";
import { readDaySpending, spendingCell, spendingData } from "./budget-data.ts";
import { VERSION } from "./version.ts";

/** Creates what is missing and never touches what is there. */
export async function init(context: CommandContext): Promise<Outcome> {
  const { dataDir, config, database } = context.paths;
  const before = { data_dir: existsSync(dataDir), config: existsSync(config), database: existsSync(database) };
  await context.store();
  const { createConfig } = await import("../../store/config-file.ts");
  createConfig(config);
  const paths = { data_dir: dataDir, config, database };
  const keys = ["data_dir", "config", "database"] as const;
  const created = keys.filter((key) => !before[key]);
  const commands = await commandsHere();
  return {
    data: { ...paths, created, existing: keys.filter((key) => before[key]), confinement: commands.data },
    view: [
      {
        kind: "fields",
        title: "Environment",
        rows: keys.map((key) => [key.replace("_", " "), `${paths[key]} (${before[key] ? "was there" : "created"})`]),
      },
    ],
    messages: [
      ...say(created.length === 0 ? "Everything was there already; nothing was changed." : "Ready."),
      commands.message,
    ],
    next: [
      ...(commands.next === undefined ? [] : [commands.next]),
      "agents action create --config <file>",
      "agents project create <name>",
    ],
  };
}

export async function info(context: CommandContext): Promise<Outcome> {
  const { dataDir, config, database } = context.paths;
  const exists = existsSync(database);
  const counts = exists ? await entityCounts(context) : undefined;
  const today = exists ? await readDaySpending(context) : undefined;
  const data = {
    version: VERSION,
    node: process.versions.node,
    sqlite: process.versions["sqlite"] ?? null,
    platform: `${process.platform} ${process.arch}`,
    data_dir: dataDir,
    config,
    database: { path: database, exists, size_bytes: exists ? statSync(database).size : 0 },
    user: await context.user(),
    format: await context.format(),
    counts: counts ?? null,
    cost_today: today === undefined ? null : { date: today.date, ...spendingData(today) },
  };
  return {
    data,
    view: [
      {
        kind: "fields",
        title: "CleverAgents",
        rows: [
          ["version", `${VERSION} (Node ${data.node}, SQLite ${data.sqlite ?? "?"}, ${data.platform})`],
          ["data directory", dataDir],
          ["database", exists ? `${database} (${data.database.size_bytes} bytes)` : `${database} (not there yet)`],
          ["configuration", existsSync(config) ? config : `${config} (not there, defaults apply)`],
          ["user", data.user],
          ...(counts === undefined
            ? []
            : [
                [
                  "holds",
                  [
                    count(counts.actions, "action"),
                    count(counts.projects, "project"),
                    count(counts.plans, "plan"),
                  ].join(", "),
                ] as const,
              ]),
          ...(today === undefined ? [] : [["models today", spendingCell(today)] as const]),
        ],
      },
    ],
    messages: [],
    ...(exists ? {} : { next: ["agents init"] }),
  };
}

async function entityCounts(context: CommandContext): Promise<{ actions: number; projects: number; plans: number }> {
  const plans = await context.plans();
  const { counts } = await plans.listPlans({ limit: 1 });
  return {
    actions: (await plans.listActions()).length,
    projects: (await (await context.projects()).listProjects()).length,
    plans: [...counts.values()].reduce((sum, one) => sum + one, 0),
  };
}
