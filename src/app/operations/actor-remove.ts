import * as z from "zod";
import { UsageError } from "../../domain/errors/errors.ts";
import { ACTOR_ROLES } from "../../domain/names/actor-roles.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { confirmed } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";
import { defaultActors } from "../procedures/plan-defaults.ts";

export const operation = defineOperation({
  input: z.strictObject({ actor: z.string() }),
  output: z.discriminatedUnion("removed", [
    z.strictObject({
      removed: z.literal(true),
      actor: z.string(),
      /** The roles it was the default of, if any: they have none now. */
      defaultFor: z.array(z.enum(ACTOR_ROLES)).optional(),
    }),
    z.strictObject({ removed: z.literal(false) }),
  ]),
  run: async (app, { actor }, call) => {
    const found = await app.actorNamed(actor);
    const { name } = found;
    if (!("version" in found)) {
      const is = found.type === "acp" ? "an agent that is known by name" : "a model of a provider";
      throw new UsageError(`${name} is ${is}, not a registered actor: it cannot be removed.`, {
        kept: "Nothing was changed.",
        next: [nextStep("config.list")],
      });
    }
    if (!(await confirmed(call, `Remove the actor ${name}?`))) return { removed: false as const };
    await (await app.actors()).removeActor(name);
    const defaults = await defaultActors(app);
    const defaultFor = ACTOR_ROLES.filter((role) => defaults[role]?.toLowerCase() === name.toLowerCase());
    return { removed: true as const, actor: name, ...(defaultFor.length === 0 ? {} : { defaultFor }) };
  },
});
