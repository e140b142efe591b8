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

export function sandboxFacts(sandbox: KeptSandbox): z.output<typeof SandboxFacts> {
  const { planId, attempt, alias, path = null, home, leftOver, removable, why } = sandbox;
  return { planId, attempt, resource: alias, path, sandbox: home, leftOver, removable, why };
}
