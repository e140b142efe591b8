/** Another process moves the branch in the moment between our last check and git's own move. */
import { expect, test } from "vitest";
import { DataDirectory } from "../platform/data-directory.ts";
import { PlanApplier } from "./plan-applier.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { FILE_EFFECTS, type FileEffects } from "./file-effects.ts";
import { LandingWorld } from "./testing/landing-world.ts";

test("a branch that moved under the landing is named, stays where it is, and everything else goes back", async () => {
  using world = await LandingWorld.make();
  const before = await world.state();
  const theirs = world.git("commit-tree", "-p", "main", "-m", "theirs", "main^{tree}").trim();
  const effects: FileEffects = {
    ...FILE_EFFECTS,
    updateRefs: (...args) => {
      world.git("update-ref", "refs/heads/main", theirs);
      return FILE_EFFECTS.updateRefs(...args);
    },
  };
  await using store = await world.open();
  const service = new PlanLifecycleService({ store });
  const applier = new PlanApplier({ store, service, data: new DataDirectory(world.dataDir), effects });
  await expect(applier.apply(world.planId)).rejects.toThrow("main was changed meanwhile");
  expect(world.git("rev-parse", "main").trim()).toBe(theirs);
  const { log, ...after } = await world.state();
  expect({ ...after, log: before.log }).toEqual(before);
  expect(log).toContain("theirs");
  expect(world.leftovers()).toEqual([]);
});
