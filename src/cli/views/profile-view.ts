/** An automation profile: safety, guards and budget, then the thresholds. */
import type { OutputOf } from "../../app/table/operation-table.ts";
import { THRESHOLDS } from "../../domain/profile/automation-profile.ts";
import { snake } from "../../domain/profile/profile-definition.ts";
import type { View } from "../terminal/view.ts";
import { usd } from "./parts.ts";

const NETWORK_TEXTS = {
  off: "closed to commands",
  registries: "registries of packages only",
  on: "open to commands",
} as const;

type Profile = OutputOf<"automation-profile.show">["profile"];

export function profileView({ name, description, extends: base, thresholds, safety, guards, budget }: Profile): View {
  return [
    {
      kind: "fields",
      title: name,
      rows: [
        ["description", description],
        ...(base === null ? [] : [["derived from", base] as const]),
        ["sandbox", safety.requireSandbox ? "required" : "not required"],
        ["checkpoints", safety.requireCheckpoints ? "required" : "not required"],
        ["confinement", safety.requireConfinement ? "required for commands" : "not required"],
        ["network", NETWORK_TEXTS[safety.network]],
        ["apply", safety.requireHumanApproval || guards.requireApprovalForApply ? "a person approves" : "as below"],
        ["retries", `${safety.maxRetriesPerStep} for each step`],
        ...(budget.maxCostUsd === null ? [] : [["may cost", usd(budget.maxCostUsd)] as const]),
        ...guardRows(guards),
      ],
    },
    {
      kind: "table",
      title: "Thresholds",
      columns: [{ keep: "Threshold" }, "Value", "Meaning"],
      rows: THRESHOLDS.map((one) => [snake(one), String(thresholds[one]), thresholdText(thresholds[one])]),
      empty: "",
    },
  ];
}

function guardRows(guards: Profile["guards"]): (readonly [string, string])[] {
  const rows: (readonly [string, string | undefined])[] = [
    ["denied tools", guards.toolDenylist.join(", ") || undefined],
    ["allowed tools", guards.toolAllowlist === null ? undefined : guards.toolAllowlist.join(", ") || "none"],
    ["calls", limitText(guards.maxToolCalls, "in the plan")],
    ["", limitText(guards.maxToolCallsPerStep, "in a step")],
    ...Object.entries(guards.maxCallsPerTool).map(([tool, limit]) => ["", limitText(limit, `of ${tool}`)] as const),
    ["writes", guards.requireApprovalForWrites ? "a person allows each step to write" : undefined],
  ];
  return rows.flatMap(([label, text]) => (text === undefined ? [] : [[label, text] as const]));
}

function limitText(limit: number | null, where: string): string | undefined {
  return limit === null ? undefined : `at most ${limit} ${where}`;
}

function thresholdText(value: number): string {
  if (value === 0) return "by itself";
  return value === 1 ? "asks" : `by itself when at least ${Math.round(value * 100)} % confident`;
}
