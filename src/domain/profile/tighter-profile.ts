import {
  NETWORK_ACCESS,
  THRESHOLDS,
  type AutomationProfile,
  type NetworkAccess,
  type ProfileBudget,
} from "./automation-profile.ts";
import { toolMatches, type Guards } from "./guards.ts";
import { snake } from "./profile-definition.ts";
import { TOOL_NAMES } from "../names/tool-names.ts";

/**
 * The stricter of two automation profiles, field by field. An action may come from another person, so its profile can
 * hold a plan back further than the user's own setting does, and never let it go further.
 *
 * | field | the stricter one |
 * |---|---|
 * | thresholds | the higher: more confidence is needed |
 * | `require…` | true |
 * | `allow…` | false |
 * | network | the narrower: off, registries, on |
 * | limits, retries, budget | the lower; any limit is stricter than none |
 * | denied tools | those of both |
 * | allowed tools | those that both allow |
 */
export function tighterProfile(wanted: AutomationProfile, own: AutomationProfile): AutomationProfile {
  const switches = switchesOf(own).map((name) => [name, stricterSwitch(name, wanted[name], own[name])] as const);
  const thresholds = THRESHOLDS.map((name) => [name, Math.max(wanted.thresholds[name], own.thresholds[name])] as const);
  return {
    ...wanted,
    ...Object.fromEntries(switches),
    thresholds: { ...wanted.thresholds, ...Object.fromEntries(thresholds) },
    network: narrower(wanted.network, own.network),
    maxRetriesPerStep: Math.min(wanted.maxRetriesPerStep, own.maxRetriesPerStep),
    guards: tighterGuards(wanted.guards, own.guards),
    budget: tighterBudget(wanted.budget, own.budget),
  };
}

/**
 * Where a profile goes further than another, by the names of the file: empty if it is at least as strict everywhere.
 */
export function looserFields(profile: AutomationProfile, than: AutomationProfile): string[] {
  const [given, held] = [measures(profile), measures(tighterProfile(profile, than))];
  return Object.keys(held).filter((name) => given[name] !== held[name]);
}

type Switch = {
  [K in keyof AutomationProfile]: AutomationProfile[K] extends boolean ? K : never;
}[keyof AutomationProfile];

/**
 * All that are on or off, those of later versions included: what such a field means is in the first word of its name.
 */
function switchesOf(profile: AutomationProfile): Switch[] {
  const names = Object.keys(profile) as (keyof AutomationProfile)[];
  return names.filter((name): name is Switch => typeof profile[name] === "boolean");
}

/** A field that neither requires nor allows is not known here: the user's own value stays. */
function stricterSwitch(name: string, wanted: boolean, own: boolean): boolean {
  if (name.startsWith("require")) return wanted || own;
  return name.startsWith("allow") ? wanted && own : own;
}

function narrower(a: NetworkAccess, b: NetworkAccess): NetworkAccess {
  return NETWORK_ACCESS.find((access) => access === a || access === b) ?? "off";
}

function tighterGuards(wanted: Guards, own: Guards): Guards {
  const limits = [...Object.entries(own.maxCallsPerTool), ...Object.entries(wanted.maxCallsPerTool)];
  const perTool = new Map<string, number>();
  for (const [pattern, limit] of limits) perTool.set(pattern, Math.min(limit, perTool.get(pattern) ?? limit));
  return {
    toolDenylist: [...new Set([...wanted.toolDenylist, ...own.toolDenylist])],
    toolAllowlist: allowedByBoth(wanted.toolAllowlist, own.toolAllowlist),
    maxToolCallsPerStep: lower(wanted.maxToolCallsPerStep, own.maxToolCallsPerStep),
    maxToolCalls: lower(wanted.maxToolCalls, own.maxToolCalls),
    maxCallsPerTool: Object.fromEntries(perTool),
    requireApprovalForWrites: wanted.requireApprovalForWrites || own.requireApprovalForWrites,
    requireApprovalForApply: wanted.requireApprovalForApply || own.requireApprovalForApply,
  };
}

/**
 * Two lists of patterns become the built-in tools that fit both, and the patterns for added tools that the other list
 * fits as a whole: its `*` takes the place of theirs.
 */
function allowedByBoth(
  wanted: readonly string[] | undefined,
  own: readonly string[] | undefined,
): readonly string[] | undefined {
  if (wanted === undefined || own === undefined) return wanted ?? own;
  const added = [
    ...wanted.filter((pattern) => fits(own, pattern)),
    ...own.filter((pattern) => fits(wanted, pattern)),
  ].filter((pattern) => pattern.includes("/") || pattern === "*");
  return [...new Set([...TOOL_NAMES.filter((tool) => fits(wanted, tool) && fits(own, tool)), ...added])];
}

function tighterBudget(wanted: ProfileBudget, own: ProfileBudget): ProfileBudget {
  return { maxCostUsd: lower(wanted.maxCostUsd, own.maxCostUsd) };
}

function lower(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

function fits(patterns: readonly string[], tool: string): boolean {
  return patterns.some((pattern) => toolMatches(pattern, tool));
}

/** A profile as texts that can be compared: lists of patterns become the tools they stand for. */
function measures(profile: AutomationProfile): Record<string, string> {
  const { guards, budget } = profile;
  const { toolDenylist, toolAllowlist } = guards;
  const added = [...toolDenylist.map((one) => `not ${one}`), ...(toolAllowlist ?? ["*"])];
  const may = TOOL_NAMES.filter(
    (tool) => !fits(toolDenylist, tool) && (toolAllowlist === undefined || fits(toolAllowlist, tool)),
  );
  const perTool = TOOL_NAMES.map((tool) =>
    Object.entries(guards.maxCallsPerTool).flatMap(([pattern, limit]) =>
      toolMatches(pattern, tool) ? [`${pattern} ${limit}`] : [],
    ),
  );
  return {
    ...Object.fromEntries(THRESHOLDS.map((name) => [snake(name), String(profile.thresholds[name])])),
    ...Object.fromEntries(switchesOf(profile).map((name) => [snake(name), String(profile[name])])),
    network: profile.network,
    max_retries_per_step: String(profile.maxRetriesPerStep),
    tools: may.join(),
    added_tools: added
      .filter((one) => one.includes("/"))
      .toSorted()
      .join(),
    max_tool_calls_per_step: String(guards.maxToolCallsPerStep),
    max_tool_calls: String(guards.maxToolCalls),
    max_calls_per_tool: perTool.map((limits) => limits.sort().join("+")).join(),
    require_approval_for_writes: String(guards.requireApprovalForWrites),
    require_approval_for_apply: String(guards.requireApprovalForApply),
    max_cost_usd: String(budget.maxCostUsd),
  };
}
