import { appendFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { TestDirectory } from "../store/testing/fixtures.ts";
import { openCleverAgents } from "./open.ts";

test("an application that stays open sees what another process sets", async () => {
  await using directory = await TestDirectory.make();
  const open = { dataDir: directory.file("data"), environment: {} };
  await using agents = await openCleverAgents(open);
  const profile = async (): Promise<unknown> => (await agents.setting("core.automation-profile")).value;
  expect(await profile()).toBeUndefined();
  {
    await using other = await openCleverAgents(open);
    await other.run("config.set", { key: "core.automation-profile", value: "manual" });
  }
  expect(await profile()).toBe("manual");
  // An editor that writes into the same file.
  appendFileSync(agents.paths.config, "core.format: plain\n");
  expect((await agents.setting("core.format")).value).toBe("plain");
  writeFileSync(agents.paths.config, "");
  expect(await profile()).toBeUndefined();
});

test("settings that the program gives win over the configuration, also for providers", async () => {
  await using directory = await TestDirectory.make();
  writeFileSync(directory.file("transcript.yaml"), "turns: [{ text: Hello. }]\n");
  await using agents = await openCleverAgents({
    dataDir: directory.file("data"),
    environment: {},
    settings: {
      "core.automation-profile": "manual",
      "provider.scripted.transcript": directory.file("transcript.yaml"),
    },
  });
  expect((await agents.setting("core.automation-profile")).value).toBe("manual");
  const { actors } = await agents.run("actor.list", {});
  expect(actors.map(({ name }) => name)).toContain("scripted/transcript");
});

test("an application that is open twice in one process runs commands by the settings of its own", async () => {
  await using directory = await TestDirectory.make();
  const open = (name: string): ReturnType<typeof openCleverAgents> =>
    openCleverAgents({ dataDir: directory.file(name), environment: {} });
  await using one = await open("one");
  await using two = await open("two");
  const { commandPolicy } = await import("../confinement/command-policy.ts");
  const before = commandPolicy();
  await Promise.all([one.run("diagnostics", {}), two.run("diagnostics", {})]);
  expect(commandPolicy()).toBe(before);
});
