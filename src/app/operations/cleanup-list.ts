import * as z from "zod";
import { nextStep } from "../../domain/errors/next-step.ts";
import { listSandboxes, type KeptSandbox } from "../../execution/sandbox/sandbox-inventory.ts";
import { passedOverCandidates } from "../../plans/candidates.ts";
import { plansInPlace } from "../../ledger/sandbox-records.ts";
import { diskUsage } from "../../platform/disk-usage.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps } from "../base/schemas.ts";
import { SandboxFacts, sandboxFacts } from "../queries/sandboxes.ts";

export const operation = defineOperation({
  input: z.strictObject({}),
  output: z.strictObject({
    sandboxes: z.array(SandboxFacts.extend({ bytes: z.int().nullable() })),
    inPlace: z.array(z.strictObject({ planId: z.string(), attempt: z.int(), resource: z.string(), path: z.string() })),
    summary: z.strictObject({ total: z.int(), removable: z.int() }),
    nextSteps: NextSteps.optional(),
  }),
  run: async (app) => {
    const store = await app.store();
    const kept = await listSandboxes(store, app.paths.sandboxes);
    const over = new Map((await store.read(passedOverCandidates)).map(({ plan, chosen }) => [plan, chosen]));
    const removable = kept.filter((sandbox) => sandbox.removable || over.has(sandbox.planId)).length;
    const sizes = await diskUsage(kept.map(placeOf));
    const inPlace = await store.read(plansInPlace);
    return {
      sandboxes: kept.map((sandbox) => ({
        ...sandboxFacts(sandbox, over.get(sandbox.planId)),
        bytes: sizes.get(placeOf(sandbox)) ?? null,
      })),
      inPlace: inPlace.map(({ planId, attempt, alias, path }) => ({ planId, attempt, resource: alias, path })),
      summary: { total: kept.length, removable },
      ...(removable === 0 ? {} : { nextSteps: [nextStep("cleanup.run")] }),
    };
  },
});

/** Where its bytes are: a half-made one has another name. */
function placeOf({ home, leftOver }: KeptSandbox): string {
  return leftOver ? `${home}.tmp` : home;
}
