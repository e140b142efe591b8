/**
 * Landings that share a tree: a directory inside a checkout, and directories that a plan renamed while a person
 * continued to work in them.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { DataDirectory } from "../platform/data-directory.ts";
import { ProjectService } from "../catalog/project-service.ts";
import { ResourceService } from "../catalog/resource-service.ts";
import { lockPlaces } from "../apply/prepare-landings.ts";
import { withResourceLocks } from "../apply/resource-locks.ts";
import { World } from "./testing/user-world.ts";

test("a directory inside a checkout and the checkout exclude each other", async () => {
  await using world = await World.make({ files: { "docs/page.md": "old\n" } });
  const parts = { store: await world.store() };
  const path = join(world.repository, "docs");
  await new ResourceService(parts).addResource({ type: "fs-directory", name: "docs", arguments: { path } });
  await new ProjectService(parts).createProject({ name: "pages", resources: ["docs"] });
  const id = await world.used([["write_file", { resource: "docs", path: "page.md", content: "new\n" }]], "pages");
  await world.execute(id);
  const checkout = await lockPlaces([{ path: world.repository, baseCommit: "any", strategy: "git_worktree" }]);
  const applier = await world.applier();
  let landed = false;
  const applying = await withResourceLocks(
    new DataDirectory(world.agents.dataDir).locks,
    checkout,
    async () => {
      const merging: string[] = [];
      const apply = applier
        .apply(id, {
          tell: (event) => {
            if (event.type === "landing") merging.push(event.event);
          },
        })
        .then(() => (landed = true));
      const store = await world.store();
      const question = "SELECT 1 FROM leases WHERE plan_id = ? AND phase = 'apply' AND expires_at > now_ms()";
      while ((await store.read((reader) => reader.get(question, id))) === undefined) await sleep(10);
      // By now it wants the lock; what it does without having it would show within moments.
      await sleep(500);
      expect(merging).toEqual([]);
      expect(world.read("docs/page.md")).toBe("old\n");
      return { apply };
    },
    { patienceMs: 10_000 },
  );
  await applying.apply;
  expect(landed).toBe(true);
  expect(world.read("docs/page.md")).toBe("new\n");
});

describe.each(["true", "conflict", "false"])("with merge.directoryRenames=%s", (setting) => {
  test("a person's file in a directory that a plan renamed stays where they put it", async () => {
    const names = ["1.txt", "2.txt", "3.txt", "4.txt"];
    const files = Object.fromEntries(names.map((name) => [`olddir/${name}`, `${name}\n`.repeat(20)]));
    await using world = await World.make({ files });
    world.git("config", "merge.directoryRenames", setting);
    const id = await world.executed(
      ...names.map((name) => ["move_file", { resource: "api", path: `olddir/${name}`, to: `newdir/${name}` }] as const),
    );
    expect(await world.apply(id)).toMatchObject({ exit_code: 0 });
    world.write({ "newdir/human.txt": "mine\n" });
    world.commit("a person's file");
    expect(await world.undo(id)).toMatchObject({ exit_code: 0 });
    expect(world.read("newdir/human.txt")).toBe("mine\n");
    expect(existsSync(join(world.repository, "olddir/human.txt"))).toBe(false);
    for (const name of names) expect(world.read(`olddir/${name}`)).toBe(files[`olddir/${name}`]);
    expect(await world.redo(id)).toMatchObject({ exit_code: 0 });
    expect(world.git("ls-files", "newdir").trim().split("\n")).toEqual(
      [...names, "human.txt"].map((name) => `newdir/${name}`),
    );
    expect(world.git("status", "--porcelain")).toBe("");
  });
});
