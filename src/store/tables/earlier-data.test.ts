/** Data of earlier versions, with settings that had no effect and are gone, is still read. */
import { expect, test } from "vitest";
import { ActorService } from "../../catalog/actor-service.ts";
import { ProjectService } from "../../catalog/project-service.ts";
import { findProfile } from "../../domain/profile/automation-profile.ts";
import { PlanLifecycleService } from "../../plans/plan-lifecycle-service.ts";
import { parseQualifiedName } from "../../domain/names/qualified-name.ts";
import { ACTION_NAME, actionInput } from "../../testing/fixtures.ts";
import { TemporaryStore } from "../../testing/temporary-store.ts";
import { findContextPolicy } from "./context-policies.ts";

test("an actor with a role hint and the view apply, a policy for that view, and a plan with old thresholds and roles", async () => {
  await using temporary = await TemporaryStore.open("memory");
  const { store } = temporary;
  const actors = new ActorService({ store });
  const given = { name: "local/old", type: "llm", description: "d", context_view: "execute" } as const;
  const now = await actors.addActor(given);
  const plans = new PlanLifecycleService({ store });
  await plans.createAction(actionInput());
  await new ProjectService({ store }).createProject({ name: "shop" });
  const plan = await plans.useAction({ action: ACTION_NAME, projects: ["shop"] });
  const { thresholds, ...profile } = findProfile("supervised");
  const old = { ...profile, thresholds: { autoStrategize: 0, ...thresholds, autoRetryTransient: 1 } };
  await store.transaction(async (tx) => {
    const stored = JSON.stringify({ ...now, contextView: "apply", roleHint: "review" });
    await tx.run("UPDATE actors SET definition = ?", stored);
    await tx.run("UPDATE actions SET review_actor = 'local/old', apply_actor = 'local/old'");
    await tx.run("UPDATE plans SET profile = ?, estimation_actor = 'local/old'", JSON.stringify(old));
    await tx.run("INSERT INTO context_policies VALUES ('local/shop', 'apply', 'maxFiles', '1')");
  });
  expect(await actors.getActor("local/old")).toEqual({ ...now, usedBy: [], neededBy: [] });
  expect(await plans.getPlan(plan.id)).toEqual(plan);
  const policy = await store.read((reader) => findContextPolicy(reader, parseQualifiedName("local/shop")));
  expect(policy).toEqual({});
  // A role that had no effect does not hold the actor either.
  await actors.removeActor("local/old");
});
