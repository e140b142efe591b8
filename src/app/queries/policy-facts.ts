/** The parts of a project that models may see, setting by setting, and the view that decides each. */
import * as z from "zod";
import type { ProjectPolicy } from "../../catalog/context-policy-service.ts";
import {
  CONTEXT_VIEWS,
  POLICY_SETTINGS,
  resolveView,
  type ContextView,
  type PolicySetting,
} from "../../domain/context/context-policy.ts";

const Value = z.union([z.array(z.string()).readonly(), z.number(), z.null()]);
const Setting = z.strictObject({ value: Value, from: z.string() });
const Settings = z.strictObject(
  Object.fromEntries(POLICY_SETTINGS.map((name) => [name, Setting])) as Record<PolicySetting, typeof Setting>,
);

export const PolicyFacts = z.strictObject({
  project: z.string(),
  views: z.partialRecord(z.enum(CONTEXT_VIEWS), Settings),
});

export function policyFacts(
  { project, policy }: ProjectPolicy,
  views: readonly ContextView[],
): z.output<typeof PolicyFacts> {
  const shown = views.map((view) => {
    const resolved = resolveView(policy, view);
    const settings = POLICY_SETTINGS.map((name) => [
      name,
      { value: resolved[name] ?? null, from: resolved.from[name] },
    ]);
    return [view, Object.fromEntries(settings)] as const;
  });
  return { project, views: Object.fromEntries(shown) };
}
