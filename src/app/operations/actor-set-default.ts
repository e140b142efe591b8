import * as z from "zod";
import { suggested } from "../../domain/definition/checked-schema.ts";
import { UsageError, ValidationError } from "../../domain/errors/errors.ts";
import { ACTOR_ROLES, type ActorRole } from "../../domain/names/actor-roles.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { defaultActorKey } from "../../domain/settings/actor-settings.ts";
import { findSetting } from "../../domain/settings/settings.ts";
import { shown } from "../../domain/text/text.ts";
import { defineOperation } from "../base/operation.ts";
import { storeSetting } from "../procedures/stored-settings.ts";

export const operation = defineOperation({
  input: z.strictObject({ role: z.string(), actor: z.string() }),
  output: z.strictObject({
    role: z.enum(ACTOR_ROLES),
    actor: z.string(),
    previous: z.string().nullable(),
    configPath: z.string(),
  }),
  run: async (app, { role: word, actor }) => {
    const role = roleNamed(word, actor);
    const { name } = await app.actorNamed(actor);
    const setting = findSetting(defaultActorKey(role));
    const problem = setting.problem(name);
    if (problem !== undefined) {
      // It can be asked, but not kept: the path of a transcript may hold anything.
      throw new ValidationError(`${shown(name)} cannot be a default: ${problem}`, [
        { path: "actor", message: problem },
      ]);
    }
    const { previous } = await storeSetting(app, setting, { value: name });
    return { role, actor: name, previous: previous ?? null, configPath: app.paths.config };
  },
});

function roleNamed(word: string, actor: string): ActorRole {
  const role = ACTOR_ROLES.find((one) => one === word.toLowerCase());
  if (role !== undefined) return role;
  const { suggestion } = suggested(word, ACTOR_ROLES);
  throw new UsageError(`There is no role "${word}"; there are ${ACTOR_ROLES.join(", ")}.`, {
    kept: "Nothing was changed.",
    ...(suggestion === undefined ? {} : { next: [nextStep("actor.set-default", { role: suggestion, actor })] }),
  });
}
