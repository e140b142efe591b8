import type { OutputOf } from "../../app/table/operation-table.ts";
import { info, type Message } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import type { Cell } from "../terminal/view.ts";

type SetUp = NonNullable<OutputOf<"init">["setUp"]>;

export const show: Show<"init"> = ({ dataDir, config, database, created, setUp, confinementNotice }) => {
  const paths = { data_dir: dataDir, config, database };
  const keys = ["data_dir", "config", "database"] as const;
  return {
    view: [
      {
        kind: "fields",
        title: "Environment",
        rows: [
          ...keys.map((key): [string, string] => [
            key.replace("_", " "),
            `${paths[key]} (${created.includes(key) ? "created" : "already exists"})`,
          ]),
          ...(setUp === null ? [] : rowsOf(setUp)),
        ],
      },
    ],
    messages: [
      ...info(setUp === null && created.length === 0 ? "Already set up; nothing was changed." : "Ready."),
      ...(setUp === null ? [] : messagesOf(setUp)),
      confinementNotice,
    ],
  };
};

function rowsOf({ providers, model, usable, budgetPerRun, test }: SetUp): (readonly [string, Cell])[] {
  const needsKey = model !== null && !usable ? " (its provider needs a key)" : "";
  return [
    ["providers", providers.map(({ provider, by }) => `${provider} ${by}`).join(", ") || "none"],
    ["model", `${model ?? "none"}${needsKey}`],
    ["cap of a run", budgetPerRun === "none" ? "none" : `$${budgetPerRun}`],
    ["test", test.text],
  ];
}

function messagesOf({ left, stored, test }: SetUp): Message[] {
  const kept = stored.length === 0 ? "nothing was stored" : `kept: ${stored.join(", ")}`;
  return [
    ...(left
      ? [{ level: "warning" as const, text: `You left the set-up; ${kept}. agents init goes on from there.` }]
      : []),
    ...(test.outcome === "failed" ? [{ level: "warning" as const, text: test.text }] : []),
  ];
}
