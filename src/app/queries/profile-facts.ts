/** The facts of an automation profile: thresholds, safety, guards, budget. */
import * as z from "zod";
import {
  isBuiltIn,
  NETWORK_ACCESS,
  THRESHOLDS,
  type AutomationProfile,
  type Threshold,
} from "../../domain/profile/automation-profile.ts";
import type { OwnProfile } from "../../store/tables/profiles.ts";
import { Instant, instant } from "../base/schemas.ts";
import { GuardFacts, guardFacts } from "./guard-facts.ts";

export const ProfileFacts = z.strictObject({
  name: z.string(),
  builtin: z.boolean(),
  description: z.string(),
  extends: z.string().nullable(),
  thresholds: z.strictObject(
    Object.fromEntries(THRESHOLDS.map((name) => [name, z.number()])) as Record<Threshold, z.ZodNumber>,
  ),
  safety: z.strictObject({
    requireSandbox: z.boolean(),
    requireCheckpoints: z.boolean(),
    requireConfinement: z.boolean(),
    requireHumanApproval: z.boolean(),
    allowUnsafeTools: z.boolean(),
    network: z.enum(NETWORK_ACCESS),
    maxRetriesPerStep: z.int(),
  }),
  guards: GuardFacts,
  budget: z.strictObject({ maxCostUsd: z.number().nullable() }),
  /** Null for one that is built in. */
  createdAt: Instant.nullable(),
});

export function profileFacts(profile: AutomationProfile | OwnProfile): z.output<typeof ProfileFacts> {
  return {
    name: profile.name,
    builtin: isBuiltIn(profile.name),
    description: profile.description,
    extends: "extends" in profile ? (profile.extends ?? null) : null,
    // A profile that was stored earlier may have thresholds that are gone.
    thresholds: Object.fromEntries(THRESHOLDS.map((name) => [name, profile.thresholds[name]])) as Record<
      Threshold,
      number
    >,
    safety: {
      requireSandbox: profile.requireSandbox,
      requireCheckpoints: profile.requireCheckpoints,
      requireConfinement: profile.requireConfinement,
      requireHumanApproval: profile.requireHumanApproval,
      allowUnsafeTools: profile.allowUnsafeTools,
      network: profile.network,
      maxRetriesPerStep: profile.maxRetriesPerStep,
    },
    guards: guardFacts(profile.guards),
    budget: { maxCostUsd: profile.budget.maxCostUsd ?? null },
    createdAt: "createdAt" in profile ? instant(profile.createdAt) : null,
  };
}
