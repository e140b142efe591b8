import * as z from "zod";
import { listSandboxes, removeUnneeded } from "../../execution/sandbox/sandbox-inventory.ts";
import { confirmed } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";
import { SandboxFacts, sandboxFacts } from "../queries/sandboxes.ts";

export const operation = defineOperation({
  input: z.strictObject({}),
  output: z.strictObject({ removed: z.array(SandboxFacts), declined: z.literal(true).optional() }),
  run: async (app, _, call) => {
    const store = await app.store();
    const { sandboxes } = app.paths;
    const unneeded = (await listSandboxes(store, sandboxes)).filter((sandbox) => sandbox.removable).length;
    const noun = unneeded === 1 ? "sandbox" : "sandboxes";
    const question = `Remove ${unneeded} ${noun}? The changes made in them stay recorded.`;
    if (unneeded > 0 && !(await confirmed(call, question))) return { removed: [], declined: true as const };
    return { removed: (await removeUnneeded(store, sandboxes)).map(sandboxFacts) };
  },
});
