/** Own automation profiles beside actions and plans that name them. */
import { expect, test } from "vitest";
import { parseProfile } from "../domain/profile/profile-definition.ts";
import { actionInput } from "../testing/fixtures.ts";
import { STORE_KINDS, TemporaryStore } from "../testing/temporary-store.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { ProfileService, settingsNaming } from "./profile-service.ts";

const careful = (name: string) => parseProfile({ name, description: "d", guards: { max_tool_calls: 3 } }, []);

test.each(STORE_KINDS)(
  "on a %s store, removing a profile and creating an action of it race: no action is left without it",
  async (kind) => {
    await using temporary = await TemporaryStore.open(kind);
    const profiles = new ProfileService(temporary);
    const plans = new PlanLifecycleService(temporary);
    for (let round = 0; round < 20; round += 1) {
      const name = `careful${round}`;
      await profiles.addProfile(careful(name));
      const action = { ...actionInput(), name: `fix${round}`, automationProfile: name };
      const outcomes = await Promise.allSettled([
        plans.createAction(action),
        profiles.removeProfile(name),
        plans.useAction({ action: `fix${round}` }),
      ]);
      const known = (await profiles.listProfiles()).map((profile) => profile.name);
      expect(known.includes(`local/${name}` as (typeof known)[number])).toBe(outcomes[0].status === "fulfilled");
      expect([outcomes[0].status, outcomes[1].status].sort()).toEqual(["fulfilled", "rejected"]);
    }
  },
);

test("of many that add one name exactly one does, and a plan keeps what it was made with", async () => {
  await using temporary = await TemporaryStore.open("memory");
  const profiles = new ProfileService(temporary);
  const plans = new PlanLifecycleService(temporary);
  const added = await Promise.allSettled(Array.from({ length: 8 }, () => profiles.addProfile(careful("mine"))));
  expect(added.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  await plans.createAction(actionInput());
  const { id } = await plans.useAction({ action: actionInput().name, automationProfile: "MINE" });
  await profiles.removeProfile("mine");
  const { profile, profileSource } = await plans.getPlan(id);
  expect([profile.name, profile.guards.maxToolCalls, profileSource]).toEqual(["local/mine", 3, "plan"]);
  await expect(plans.useAction({ action: actionInput().name, automationProfile: "mine" })).rejects.toThrow(
    'no automation profile "mine"',
  );
});

test("settings that name a profile are found in any letter case", () => {
  const projects = [["local/shop", "LOCAL/Mine"] as const, ["local/web", undefined] as const];
  expect(settingsNaming("mine", { environment: undefined, global: "local/mine", projects })).toEqual([
    "the configuration",
    "the project local/shop",
  ]);
});

test("a profile of an action is joined with the configured one: what either holds back is held back", async () => {
  await using temporary = await TemporaryStore.open("memory");
  const profiles = new ProfileService(temporary);
  const plans = new PlanLifecycleService(temporary);
  const loose = { name: "loose", description: "d", extends: "full-auto", guards: { max_tool_calls: 3 } };
  await profiles.addProfile(parseProfile(loose, []));
  await plans.createAction({ ...actionInput(), automationProfile: "loose" });
  const configuredProfile = { name: "manual", source: "global" } as const;
  const { profile, profileSource } = await plans.useAction({ action: actionInput().name, configuredProfile });
  expect([profile.name, profileSource]).toEqual(["local/loose", "action"]);
  expect(profile.guards.maxToolCalls).toBe(3);
  expect(profile).toMatchObject({ requireSandbox: true, requireCheckpoints: true, allowUnsafeTools: false });
  expect(new Set(Object.values(profile.thresholds))).toEqual(new Set([1]));
});
