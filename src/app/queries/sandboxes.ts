import * as z from "zod";
import type { KeptSandbox } from "../../execution/sandbox/sandbox-inventory.ts";

export const SandboxFacts = z.strictObject({
  planId: z.string(),
  attempt: z.int(),
  resource: z.string(),
  path: z.string().nullable(),
  sandbox: z.string(),
  leftOver: z.boolean(),
  removable: z.boolean(),
  why: z.string(),
});

/** `chosen`: the candidate that was applied instead of the sandbox's plan. */
export function sandboxFacts(sandbox: KeptSandbox, chosen?: string): z.output<typeof SandboxFacts> {
  const { planId, attempt, alias, path = null, home, leftOver } = sandbox;
  const { removable, why } =
    chosen === undefined ? sandbox : { removable: true, why: `the candidate ${chosen} was applied instead` };
  return { planId, attempt, resource: alias, path, sandbox: home, leftOver, removable, why };
}
