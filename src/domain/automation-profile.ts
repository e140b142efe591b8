import { ValidationError } from "./errors.ts";
import { nearest } from "./suggest.ts";
import { shown } from "./text.ts";

/**
 * How far a plan may go without asking. A threshold of 0 means always automatic, 1 means always ask, anything between is the
 * confidence a step needs to go on by itself. A plan carries the whole profile it was made with, so that a later change of a
 * profile never changes a running plan.
 */
export const THRESHOLDS = [
  "autoStrategize",
  "autoExecute",
  "autoApply",
  "autoDecisionsStrategize",
  "autoDecisionsExecute",
  "autoValidationFix",
  "autoStrategyRevision",
  "autoReversionFromApply",
  "autoChildPlans",
  "autoRetryTransient",
  "autoCheckpointRestore",
] as const;
export type Threshold = (typeof THRESHOLDS)[number];

export interface AutomationProfile {
  readonly name: string;
  readonly description: string;
  readonly thresholds: Readonly<Record<Threshold, number>>;
  readonly requireSandbox: boolean;
  readonly requireCheckpoints: boolean;
  readonly allowUnsafeTools: boolean;
}

/** Where the profile of a plan was decided, the strongest first. */
export type ProfileSource = "plan" | "action" | "project" | "global" | "default";

export const DEFAULT_PROFILE = "supervised";

function profile(
  name: string,
  description: string,
  base: number,
  exceptions: Partial<Record<Threshold, number>> = {},
  safety = true,
): AutomationProfile {
  const thresholds = Object.fromEntries(THRESHOLDS.map((key) => [key, exceptions[key] ?? base]));
  return {
    name,
    description,
    thresholds: thresholds as Record<Threshold, number>,
    requireSandbox: safety,
    requireCheckpoints: safety,
    allowUnsafeTools: !safety,
  };
}

const BUILT_IN: readonly AutomationProfile[] = [
  profile("manual", "Every step waits for a person", 1),
  profile("review", "Phases start by themselves, decisions and apply wait", 1, { autoStrategize: 0, autoExecute: 0 }),
  profile("supervised", "Planning runs by itself, execution waits", 1, {
    autoStrategize: 0,
    autoDecisionsStrategize: 0,
  }),
  profile("cautious", "Goes on only when confident, apply waits", 0.8, { autoApply: 1 }),
  profile("trusted", "Executes by itself, apply and going back wait", 0, {
    autoApply: 1,
    autoStrategyRevision: 1,
    autoReversionFromApply: 1,
  }),
  profile("auto", "Everything but apply runs by itself", 0, { autoApply: 1 }),
  profile("ci", "Everything runs by itself, with sandbox and checkpoints", 0),
  profile("full-auto", "Everything runs by itself, nothing is held back", 0, {}, false),
];

export const PROFILE_NAMES: readonly string[] = BUILT_IN.map(({ name }) => name);

/** An unknown name is an error, never silently another profile. */
export function findProfile(name: string, path = "automation_profile"): AutomationProfile {
  const found = BUILT_IN.find((candidate) => candidate.name === name.toLowerCase());
  if (found !== undefined) return found;
  const suggestion = nearest(name, PROFILE_NAMES);
  const message = `There is no automation profile ${shown(name)} (known: ${PROFILE_NAMES.join(", ")}).`;
  throw new ValidationError(message, [{ path, message, ...(suggestion === undefined ? {} : { suggestion }) }]);
}
