import { ValidationError } from "../errors/errors.ts";
import { NO_GUARDS, type Guards } from "./guards.ts";
import { nameKey, parseQualifiedName } from "../names/qualified-name.ts";
import { nearest } from "../text/suggest.ts";
import { shown } from "../text/text.ts";

/**
 * How far a plan may go without asking. A threshold of 0 means always automatic, 1 means always ask, anything between
 * is the confidence a step needs to continue without asking. A plan carries the whole profile it was made with, so that
 * a later change of a profile never changes a running plan.
 */
export const THRESHOLDS = [
  "autoExecute",
  "autoApply",
  "autoDecisionsStrategize",
  "autoValidationFix",
  "autoStrategyRevision",
] as const;
/** A step that a profile lets a plan take by itself from a confidence on. */
export type Threshold = (typeof THRESHOLDS)[number];

/** How far commands reach into the network: not at all, to registries of packages, everywhere. */
export const NETWORK_ACCESS = ["off", "registries", "on"] as const;
export type NetworkAccess = (typeof NETWORK_ACCESS)[number];

/** How far plans may go without asking. */
export interface AutomationProfile {
  readonly name: string;
  readonly description: string;
  readonly thresholds: Readonly<Record<Threshold, number>>;
  readonly requireSandbox: boolean;
  readonly requireCheckpoints: boolean;
  /**
   * Commands, hooks and validations that run programs are refused where the system cannot confine them to the sandbox.
   */
  readonly requireConfinement: boolean;
  /** Actors that their author calls unsafe may work. */
  readonly allowUnsafeTools: boolean;
  /** Of commands, hooks and validations. */
  readonly network: NetworkAccess;
  /** Never applied by itself, even if the threshold allows it. */
  readonly requireHumanApproval: boolean;
  /** How often a step that failed may be tried again in one attempt at the plan. */
  readonly maxRetriesPerStep: number;
  readonly guards: Guards;
  readonly budget: ProfileBudget;
}

/** The budget of a plan together with all its children; undefined means without a limit. */
export interface ProfileBudget {
  readonly maxCostUsd: number | undefined;
}

/** Where the profile of a plan was decided, the strongest first. */
export type ProfileSource = "plan" | "action" | "project" | "global" | "default";

export const DEFAULT_PROFILE = "supervised";

/** The built-in profile that holds nothing back. */
const UNHELD = "full-auto";

const SAFE = {
  requireHumanApproval: false,
  maxRetriesPerStep: 3,
  guards: NO_GUARDS,
  budget: { maxCostUsd: undefined },
} as const satisfies Partial<AutomationProfile>;

function profile(
  name: string,
  description: string,
  base: number,
  exceptions: Partial<Record<Threshold, number>> = {},
  { safety = true, network = "off" }: { readonly safety?: boolean; readonly network?: NetworkAccess } = {},
): AutomationProfile {
  return {
    name,
    description,
    thresholds: thresholdsFrom((key) => exceptions[key] ?? base),
    requireSandbox: safety,
    requireCheckpoints: safety,
    requireConfinement: safety,
    allowUnsafeTools: !safety,
    network,
    ...SAFE,
  };
}

function thresholdsFrom(valueOf: (name: Threshold) => number): Record<Threshold, number> {
  return Object.fromEntries(THRESHOLDS.map((name) => [name, valueOf(name)])) as Record<Threshold, number>;
}

/**
 * A profile as it was stored, perhaps by a version with fewer parts, or with thresholds that do not exist now. Those
 * had no effect, so they are left out.
 */
export function keptProfile(text: string): AutomationProfile {
  const kept = JSON.parse(text) as Omit<AutomationProfile, "requireConfinement" | "network"> &
    Partial<Pick<AutomationProfile, "requireConfinement" | "network">>;
  return {
    ...SAFE,
    ...kept,
    thresholds: thresholdsFrom((name) => kept.thresholds[name]),
    // One that does not say is held to it, except the one that holds nothing back.
    requireConfinement: kept.requireConfinement ?? kept.name !== UNHELD,
    network: kept.network ?? networkOf(kept.allowUnsafeTools),
    guards: { ...NO_GUARDS, ...kept.guards },
    budget: { ...SAFE.budget, ...kept.budget },
  };
}

/** For profiles of versions in which one switch stood for both. */
export function networkOf(allowUnsafeTools: boolean): NetworkAccess {
  return allowUnsafeTools ? "on" : "off";
}

/** Whether a plan may be applied without a person who says so: what runs plans by itself asks this first. */
export function mustBeApproved({ requireHumanApproval, guards }: AutomationProfile): boolean {
  return requireHumanApproval || guards.requireApprovalForApply;
}

export const BUILT_IN: readonly AutomationProfile[] = [
  profile("manual", "Strategy, decisions and apply wait for a person", 1),
  profile("review", "Execution starts by itself, decisions and apply wait", 1, {
    autoExecute: 0,
    autoValidationFix: 0,
  }),
  profile("supervised", "Planning runs by itself, execution and apply wait", 1, {
    autoDecisionsStrategize: 0,
    // The work was approved, and mending it happens in the same sandbox.
    autoValidationFix: 0,
  }),
  profile("cautious", "Goes on only when confident, apply waits", 0.8, { autoApply: 1, autoValidationFix: 0 }),
  profile(
    "trusted",
    "Decides and executes by itself; another strategy and apply wait",
    0,
    { autoApply: 1, autoStrategyRevision: 1 },
    { network: "registries" },
  ),
  profile("auto", "Everything but apply runs by itself", 0, { autoApply: 1 }, { network: "registries" }),
  profile("ci", "Everything runs by itself, with sandbox and checkpoints", 0, {}, { network: "registries" }),
  profile(UNHELD, "Everything runs by itself, nothing is held back", 0, {}, { safety: false, network: "on" }),
];

/** The names of the built-in profiles. */
export const PROFILE_NAMES: readonly string[] = BUILT_IN.map(({ name }) => name);

/** The built-in profile or one of `own`. An unknown name is an error, never silently another profile. */
export function findProfile(
  name: string,
  path = "automation_profile",
  own: readonly AutomationProfile[] = [],
): AutomationProfile {
  const builtIn = BUILT_IN.find((candidate) => candidate.name === name.toLowerCase());
  const found = builtIn ?? own.find((candidate) => candidate.name.toLowerCase() === ownKey(name));
  if (found !== undefined) return found;
  const known = [...PROFILE_NAMES, ...own.map((profile) => profile.name)];
  const suggestion = nearest(name, known) ?? nearest(`local/${name}`, known);
  const message = `There is no automation profile ${shown(name)} (known: ${known.slice(0, 20).join(", ")}).`;
  throw new ValidationError(message, [{ path, message, ...(suggestion === undefined ? {} : { suggestion }) }]);
}

export function isBuiltIn(name: string): boolean {
  return PROFILE_NAMES.includes(name.toLowerCase());
}

function ownKey(name: string): string | undefined {
  try {
    return nameKey(parseQualifiedName(name));
  } catch {
    // An empty name matches no profile; the caller lists the known ones.
    return undefined;
  }
}
