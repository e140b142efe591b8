import * as z from "zod";
import { listSandboxes, removeUnneeded } from "../../execution/sandbox/sandbox-inventory.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import { passedOverCandidates, type PassedOver } from "../../plans/candidates.ts";
import type { App } from "../base/app.ts";
import { confirmed } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";
import { SandboxFacts, sandboxFacts } from "../queries/sandboxes.ts";

export const operation = defineOperation({
  input: z.strictObject({}),
  output: z.strictObject({
    removed: z.array(SandboxFacts),
    /** Candidates of which another one was applied: cancelled before their sandboxes are removed. */
    cancelled: z.array(z.string()),
    declined: z.literal(true).optional(),
  }),
  run: async (app, _, call) => {
    const store = await app.store();
    const { sandboxes } = app.paths;
    const over = await store.read(passedOverCandidates);
    const passed = new Set(over.map(({ plan }) => plan));
    const kept = await listSandboxes(store, sandboxes);
    const unneeded = kept.filter((sandbox) => sandbox.removable || passed.has(sandbox.planId)).length;
    const noun = unneeded === 1 ? "sandbox" : "sandboxes";
    const ends = over.length === 0 ? "" : ` ${cancelText(over.length)}`;
    const question = `Remove ${unneeded} ${noun}? The changes made in them stay recorded.${ends}`;
    const declined = unneeded + over.length > 0 && !(await confirmed(call, question));
    if (declined) return { removed: [], cancelled: [], declined: true as const };
    const cancelled = await cancelAll(app, over);
    const removed = await removeUnneeded(store, sandboxes);
    return { removed: removed.map((sandbox) => sandboxFacts(sandbox)), cancelled };
  },
});

function cancelText(count: number): string {
  return count === 1
    ? "1 candidate that was not chosen is cancelled."
    : `${count} candidates that were not chosen are cancelled.`;
}

/** One that moved since it was looked at is in use, and stays. */
async function cancelAll(app: App, over: readonly PassedOver[]): Promise<string[]> {
  const service = await app.plans();
  const cancelled: string[] = [];
  for (const { plan, version, chosen } of over) {
    const reason = `the candidate ${chosen} was applied instead`;
    const done = await service.cancelPlan(plan, { reason, expectedVersion: version }).catch((error: unknown) => {
      if (error instanceof AgentsError && error.code === "conflict") return undefined;
      throw error;
    });
    if (done !== undefined) cancelled.push(plan);
  }
  return cancelled;
}
