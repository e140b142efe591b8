/** Guards as outputs show them. */
import * as z from "zod";
import type { Guards } from "../../domain/profile/guards.ts";

export const GuardFacts = z.strictObject({
  toolDenylist: z.array(z.string()).readonly(),
  toolAllowlist: z.array(z.string()).readonly().nullable(),
  maxToolCallsPerStep: z.int().nullable(),
  maxToolCalls: z.int().nullable(),
  maxCallsPerTool: z.record(z.string(), z.int()).readonly(),
  requireApprovalForWrites: z.boolean(),
  requireApprovalForApply: z.boolean(),
});

export function guardFacts(guards: Guards): z.output<typeof GuardFacts> {
  return {
    toolDenylist: guards.toolDenylist,
    toolAllowlist: guards.toolAllowlist ?? null,
    maxToolCallsPerStep: guards.maxToolCallsPerStep ?? null,
    maxToolCalls: guards.maxToolCalls ?? null,
    maxCallsPerTool: guards.maxCallsPerTool,
    requireApprovalForWrites: guards.requireApprovalForWrites,
    requireApprovalForApply: guards.requireApprovalForApply,
  };
}
