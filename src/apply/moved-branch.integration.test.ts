/** Somebody moves the branch in the moment between the last look and git's own move. */
import { expect, test } from "vitest";
import { PlanApplier } from "../plans/plan-applier.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { HANDS, type Hands } from "./hands.ts";
import { LandingWorld } from "./testing/landing-world.ts";

test("a branch that moved under the landing is named, stays where it is, and everything else goes back", async () => {
  using world = await LandingWorld.make();
  const before = await world.state();
  const theirs = world.git("commit-tree", "-p", "main", "-m", "theirs", "main^{tree}").trim();
  const hands: Hands = {
    ...HANDS,
    updateRefs: (...args) => {
      world.git("update-ref", "refs/heads/main", theirs);
      return HANDS.updateRefs(...args);
    },
  };
  await using store = await world.open();
  const service = new PlanLifecycleService({ store });
  const applier = new PlanApplier({ store, service, directory: world.dataDir, hands });
  await expect(applier.apply(world.planId)).rejects.toThrow("main was changed meanwhile");
  expect(world.git("rev-parse", "main").trim()).toBe(theirs);
  const { log, ...after } = await world.state();
  expect({ ...after, log: before.log }).toEqual(before);
  expect(log).toContain("theirs");
  expect(world.leftovers()).toEqual([]);
});
