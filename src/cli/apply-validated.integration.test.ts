/** Nothing lands that was not validated as it lands, and nothing that cannot be credited. */
import { chmodSync, existsSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { World, type Step } from "./testing/user-world.ts";

const CHANGE: readonly Step[] = [
  ["write_file", { resource: "api", path: "b.txt", content: "b\n" }],
  ["write_file", { resource: "notes", path: "b.txt", content: "b\n" }],
];

async function attach(world: World, resource: string, name: string, rest: string): Promise<void> {
  world.agents.write("validation.yaml", `name: ${name}\ndescription: checks\n${rest}\n`);
  for (const call of [
    ["add", "--config", "validation.yaml"],
    ["attach", resource, name],
  ]) {
    const { error } = await world.agents.json("validation", ...call);
    if (error !== undefined) throw new Error(error.message);
  }
}

/** Both trees and the branch, as a user would look at them. */
function look(world: World): unknown {
  const list = (root: string): string[] => readdirSync(root).filter((name) => name !== ".git");
  return [world.git("log", "--format=%T"), list(world.repository), list(world.notes), world.git("status", "--short")];
}

test("a required validation that failed, or was never run, keeps a plan from landing; an informational one does not", async () => {
  await using world = await World.make();
  await attach(world, "api", "strict", "command: test ! -e b.txt");
  await attach(world, "api", "note", "mode: informational\ncommand: 'false'");
  const id = await world.executed(...CHANGE);
  const before = look(world);
  const refused = await world.apply(id);
  expect(refused).toMatchObject({
    exit_code: 1,
    error: { code: "CONSTRAINED", kept: expect.stringContaining("Nothing") },
  });
  expect(refused.error?.message).toContain("local/strict (api)");
  expect(look(world)).toEqual(before);
  expect((await world.agents.json("plan", "status", id)).data).toMatchObject({ phase: "apply", state: "constrained" });
  expect((await world.apply(id)).exit_code).toBe(4);

  await using fine = await World.make();
  await attach(fine, "api", "note", "mode: informational\ncommand: 'false'");
  const good = await fine.executed(...CHANGE);
  await attach(fine, "api", "late", "command: 'true'");
  expect((await fine.apply(good)).error?.message).toContain("not run: local/late (api)");
});

test("when the target moved, the merged files are validated before anything lands, and nothing of it is left", async () => {
  await using world = await World.make();
  // Passes in the sandbox; with what the user commits meanwhile it does not.
  await attach(world, "api", "one", "command: test ! -e b.txt || test ! -e user.txt");
  await attach(world, "notes", "two", "command: test ! -e b.txt || test $(cat notes.txt) = mine");
  const id = await world.executed(...CHANGE);
  world.write({ "user.txt": "user\n" });
  world.commit("meanwhile");
  const before = look(world);
  const refused = await world.apply(id);
  expect(refused).toMatchObject({ exit_code: 1, error: { code: "CONSTRAINED" } });
  expect(refused.error?.message).toContain("failed: local/one (api)");
  expect(look(world)).toEqual(before);
  expect(existsSync(join(world.agents.dataDir, "sandboxes", id, "0"))).toBe(false);
  expect(world.git("for-each-ref", `refs/cleveragents/${id}/0`)).toBe("");
  const { data } = await world.agents.json("plan", "status", id);
  expect(data).toMatchObject({ state: "constrained", validation_summary: { where: "merged" } });
});

test("merged files that pass land; a target that did not move is not validated twice", async () => {
  await using world = await World.make();
  const store = await world.store();
  const places = (id: string): Promise<{ place: string }[]> =>
    store.read((reader) => reader.all("SELECT place FROM validation_runs WHERE plan_id = ? ORDER BY number", id));
  await attach(world, "api", "one", "command: test -e a.txt");
  const moved = await world.executed(CHANGE[0] ?? ["read_file", {}]);
  world.write({ "user.txt": "user\n" });
  world.commit("meanwhile");
  expect((await world.apply(moved)).exit_code).toBe(0);
  expect(await places(moved)).toEqual([{ place: "sandbox" }, { place: "merged" }]);
  const still = await world.executed(["write_file", { resource: "api", path: "c.txt", content: "c\n" }]);
  expect((await world.apply(still)).exit_code).toBe(0);
  expect(await places(still)).toEqual([{ place: "sandbox" }]);
  expect(world.git("status", "--short")).toBe("");
});

test("a sandbox that is not what was recorded is not applied, whether in git or not; once it is gone, the record is", async () => {
  await using world = await World.make();
  let last = "";
  for (const [alias, file] of [
    ["api", "a.txt"],
    ["api", "stray.txt"],
    ["notes", "notes.txt"],
  ] as const) {
    const id = await world.executed(...CHANGE);
    writeFileSync(join(world.sandbox(id, alias), file), "foreign\n");
    const before = look(world);
    const refused = await world.apply(id);
    expect(refused).toMatchObject({
      exit_code: 1,
      error: { code: "PLAN", detail: { resource: alias, paths: [file] } },
    });
    expect(look(world)).toEqual(before);
    expect((await world.agents.json("plan", "status", id)).data).toMatchObject({ phase: "apply", state: "errored" });
    if (alias === "api") await world.agents.json("plan", "cancel", id);
    else last = id;
  }
  rmSync(join(world.agents.dataDir, "sandboxes", last), { recursive: true });
  expect((await world.apply(last)).exit_code).toBe(0);
  expect(world.read("b.txt")).toBe("b\n");
});

test.each([
  ["a file of the base that was deleted", "a.txt", (root: string) => rmSync(join(root, "a.txt"))],
  ["a file of the base as long as before", "a.txt", (root: string) => writeFileSync(join(root, "a.txt"), "ONE\nTWO\n")],
  ["a file that can be run by now", "a.txt", (root: string) => chmodSync(join(root, "a.txt"), 0o755)],
  [
    "a link in the place of a directory",
    "dir",
    (root: string) => {
      renameSync(join(root, "dir"), join(root, "..", "elsewhere"));
      symlinkSync("../elsewhere", join(root, "dir"));
    },
  ],
  ["a recorded file with other bytes", "b.txt", (root: string) => writeFileSync(join(root, "b.txt"), "B\n")],
  ["a recorded file that is gone", "b.txt", (root: string) => rmSync(join(root, "b.txt"))],
])("a change that no tool call made stops the apply of a plan: %s", async (_, path, change) => {
  await using world = await World.make({ files: { "dir/x.txt": "x\n" } });
  const id = await world.executed(...CHANGE);
  change(world.sandbox(id, "api"));
  const before = look(world);
  const applier = await world.applier();
  await expect(applier.apply(id)).rejects.toMatchObject({
    code: "plan",
    detail: { paths: expect.arrayContaining([path]) },
  });
  expect(look(world)).toEqual(before);
});
