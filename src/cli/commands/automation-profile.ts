import {
  BUILT_IN,
  findProfile,
  isBuiltIn,
  THRESHOLDS,
  type AutomationProfile,
} from "../../domain/automation-profile.ts";
import type { Guards } from "../../domain/guards.ts";
import { snake } from "../../domain/profile-definition.ts";
import { findSetting } from "../../domain/settings.ts";
import type { OwnProfile } from "../../store/profiles.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { confirmed, declined } from "../confirm.ts";
import { readDefinition } from "../definition-file.ts";
import { count, instant } from "../format.ts";
import { info, type Outcome } from "../outcome.ts";
import type { View } from "../view.ts";

export async function profileAdd(context: CommandContext, input: Input): Promise<Outcome> {
  const what = { question: "Which automation profile?", command: "agents automation-profile add" };
  const { text, file } = readDefinition(input, what);
  const { parseProfileFile } = await import("../../plans/profile-file.ts");
  const profiles = await context.profiles();
  const profile = await profiles.addProfile(parseProfileFile(text, file, await profiles.listProfiles()));
  return {
    data: { profile: profileData(profile) },
    view: profileView(profile),
    messages: info(`Automation profile ${profile.name} added.`),
    next: [`agents plan use <action> <project> --automation-profile ${profile.name}`],
  };
}

export async function profileList(context: CommandContext, input: Input): Promise<Outcome> {
  const namespace = input.text("namespace");
  const own = await (await context.profiles()).listProfiles(namespace);
  const builtIn = namespace === undefined ? BUILT_IN : [];
  const all = [...builtIn, ...own];
  return {
    data: {
      profiles: all.map((profile) => ({
        name: profile.name,
        builtin: isBuiltIn(profile.name),
        description: profile.description,
      })),
      filters: { namespace: namespace ?? null },
      summary: { total: all.length, built_in: builtIn.length, custom: own.length },
    },
    view: [
      {
        kind: "table",
        title: "Automation profiles",
        columns: [{ keep: "Name" }, "From", "Description"],
        rows: all.map(({ name, description }) => [name, isBuiltIn(name) ? "built in" : "you", description]),
        empty: "No automation profiles of this namespace.",
      },
    ],
    messages: info(`${count(all.length, "automation profile")} listed.`),
    next: ["agents automation-profile show <profile>"],
  };
}

export async function profileShow(context: CommandContext, input: Input): Promise<Outcome> {
  const profile = await namedProfile(context, input);
  return { data: { profile: profileData(profile) }, view: profileView(profile), messages: [] };
}

export async function profileRemove(context: CommandContext, input: Input): Promise<Outcome> {
  const { name } = await namedProfile(context, input);
  if (!(await confirmed(`Remove the automation profile ${name}?`, input.flag("yes")))) return declined("removed");
  const { settingsNaming } = await import("../../plans/profile-service.ts");
  const { key, env } = findSetting("core.automation-profile");
  const { global, projects } = await context.config();
  const configured = isBuiltIn(name)
    ? []
    : settingsNaming(name, {
        environment: context.environment[env],
        global: global.get(key),
        projects: [...projects].map(([project, values]) => [project, values.get(key)] as const),
      });
  await (await context.profiles()).removeProfile(name, configured);
  return {
    data: { removed: true, profile: name },
    view: [],
    messages: info(`Automation profile ${name} removed; plans that were made with it keep it.`),
  };
}

async function namedProfile(context: CommandContext, input: Input): Promise<AutomationProfile | OwnProfile> {
  return findProfile(input.argument(0), "profile", await (await context.profiles()).listProfiles());
}

function profileData(profile: AutomationProfile | OwnProfile): Record<string, unknown> {
  return {
    name: profile.name,
    builtin: isBuiltIn(profile.name),
    description: profile.description,
    extends: "extends" in profile ? (profile.extends ?? null) : null,
    thresholds: Object.fromEntries(THRESHOLDS.map((name) => [snake(name), profile.thresholds[name]])),
    safety: {
      require_sandbox: profile.requireSandbox,
      require_checkpoints: profile.requireCheckpoints,
      require_confinement: profile.requireConfinement,
      require_human_approval: profile.requireHumanApproval,
      allow_unsafe_tools: profile.allowUnsafeTools,
      max_retries_per_step: profile.maxRetriesPerStep,
    },
    guards: guardData(profile.guards),
    budget: { max_cost_usd: profile.budget.maxCostUsd ?? null },
    created_at: "createdAt" in profile ? instant(profile.createdAt) : null,
  };
}

/** Guards as machines see them, by the names of the file. */
export function guardData(guards: Guards): Record<string, unknown> {
  return {
    tool_denylist: guards.toolDenylist,
    tool_allowlist: guards.toolAllowlist ?? null,
    max_tool_calls_per_step: guards.maxToolCallsPerStep ?? null,
    max_tool_calls: guards.maxToolCalls ?? null,
    max_calls_per_tool: guards.maxCallsPerTool,
    require_approval_for_writes: guards.requireApprovalForWrites,
    require_approval_for_apply: guards.requireApprovalForApply,
  };
}

function profileView(profile: AutomationProfile | OwnProfile): View {
  const base = "extends" in profile ? profile.extends : undefined;
  const { budget, guards } = profile;
  return [
    {
      kind: "fields",
      title: profile.name,
      rows: [
        ["description", profile.description],
        ...(base === undefined ? [] : [["derived from", base] as const]),
        ["sandbox", profile.requireSandbox ? "required" : "not required"],
        ["checkpoints", profile.requireCheckpoints ? "required" : "not required"],
        ["confinement", profile.requireConfinement ? "required for commands" : "not required"],
        ["network", profile.allowUnsafeTools ? "open to commands" : "closed to commands"],
        ["apply", profile.requireHumanApproval || guards.requireApprovalForApply ? "a person approves" : "as below"],
        ["retries", `${profile.maxRetriesPerStep} for each step`],
        ...(budget.maxCostUsd === undefined ? [] : [["may cost", `$${budget.maxCostUsd}`] as const]),
        ...guardRows(guards),
      ],
    },
    {
      kind: "table",
      title: "Thresholds",
      columns: [{ keep: "Threshold" }, "Value", "Meaning"],
      rows: THRESHOLDS.map((name) => [
        snake(name),
        String(profile.thresholds[name]),
        thresholdText(profile.thresholds[name]),
      ]),
      empty: "",
    },
  ];
}

function guardRows(guards: Guards): (readonly [string, string])[] {
  const rows: (readonly [string, string | undefined])[] = [
    ["denied tools", guards.toolDenylist.join(", ") || undefined],
    ["allowed tools", guards.toolAllowlist === undefined ? undefined : guards.toolAllowlist.join(", ") || "none"],
    ["calls", limitText(guards.maxToolCalls, "in the plan")],
    ["", limitText(guards.maxToolCallsPerStep, "in a step")],
    ...Object.entries(guards.maxCallsPerTool).map(([tool, limit]) => ["", limitText(limit, `of ${tool}`)] as const),
    ["writes", guards.requireApprovalForWrites ? "a person allows each step to write" : undefined],
  ];
  return rows.flatMap(([label, text]) => (text === undefined ? [] : [[label, text] as const]));
}

function limitText(limit: number | undefined, where: string): string | undefined {
  return limit === undefined ? undefined : `at most ${limit} ${where}`;
}

function thresholdText(value: number): string {
  if (value === 0) return "by itself";
  return value === 1 ? "asks" : `by itself when at least ${Math.round(value * 100)} % confident`;
}
