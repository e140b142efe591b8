import { nextStep } from "../../domain/errors/next-step.ts";
import type { OutputOf } from "../../app/table/operation-table.ts";
import { count, orDash, thousands } from "../terminal/format.ts";
import { info, type Message } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

type Listed = OutputOf<"models.list">["models"][number];

/** Narrower than this, what a model can do is worth more than how long its answers may be. */
const ALL_FROM = 100;

export const show: Show<"models.list"> = ({ models, providers, facts }, { screen }) => {
  const all = screen.columns === undefined || screen.columns >= ALL_FROM;
  return {
    view: [
      {
        kind: "table",
        title: "Models",
        columns: [
          { keep: "Model" },
          "Window",
          ...(all ? ["Answer"] : []),
          "$/M in",
          "$/M out",
          ...(all ? ["Cached"] : []),
          "Can",
          "Key",
        ],
        rows: models.map((one) => [
          one.model,
          tokens(one.contextWindow),
          ...(all ? [tokens(one.maxOutputTokens)] : []),
          amount(one.price?.input),
          amount(one.price?.output),
          ...(all ? [amount(one.price?.cacheRead)] : []),
          abilities(one),
          one.usable ? "yes" : "no",
        ]),
        empty: "No models: no provider has a key.",
      },
    ],
    messages: [
      ...providers.flatMap(({ provider, problem }): Message[] =>
        problem === null ? [] : [{ level: "warning", text: `${provider} did not list its models: ${problem}.` }],
      ),
      ...(models.length === 0 ? [] : info(`${count(models.length, "model")}; facts of ${facts.date}.`)),
    ],
    next: models.length === 0 ? [nextStep("models.list", { all: true }), nextStep("models.list", { ask: true })] : [],
  };
};

function tokens(value: number | null): string {
  return value === null ? "-" : thousands(value);
}

function amount(value: number | null | undefined): string {
  return orDash(value === null || value === undefined ? undefined : String(value));
}

function abilities({ tools, images, reasoning }: Listed): string {
  const can = [tools === true ? "tools" : "", images === true ? "images" : "", reasoning === true ? "reasoning" : ""];
  return orDash(can.filter((word) => word !== "").join(", ") || undefined);
}
