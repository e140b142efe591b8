import { join } from "node:path";
import { expect, test } from "vitest";
import { makeRepository } from "../testing/git-repository.ts";
import { SessionWorld, writing } from "./testing/session-world.ts";

/** Plans are named as people name them: by nothing, by last, by a number, by words of the request. */

async function twoPlans(world: SessionWorld): Promise<readonly [string, string]> {
  await world.answering(...writing("write a note", "note.txt"), ...writing("add a license", "LICENSE"));
  const first = await world.asked("write a note");
  const second = await world.asked("add a license");
  return [String(first.data["plan_id"]), String(second.data["plan_id"])];
}

test("without an id the newest plan here that fits is meant, and named on stderr alone", async () => {
  using world = new SessionWorld();
  const [first, second] = await twoPlans(world);
  const human = await world.run(["plan", "diff"], { cwd: world.repository });
  expect(human.stderr).toMatch(/^Plan 2 \(01[0-9A-Z]+\): add a license\n/);
  expect(human.stdout).toContain("LICENSE");
  expect(human.stdout).not.toContain("Plan 2");
  const machine = await world.run(["plan", "status", "--format", "json"], { cwd: world.repository });
  expect(machine.stderr).toBe("");
  expect(JSON.parse(machine.stdout)).toMatchObject({ data: { plan_id: second } });
  expect((await world.said("plan", "apply", "--yes")).data).toMatchObject({ plan_id: second, applied: true });
  // The newest that can be applied is now the other one; the newest that can be undone is the applied one.
  expect((await world.said("plan", "diff", "--stat")).error).toBeUndefined();
  expect((await world.said("plan", "apply", "--yes")).data).toMatchObject({ plan_id: first });
  expect((await world.said("plan", "undo", second, "--yes")).data).toMatchObject({ plan_id: second });
  expect((await world.said("plan", "undo", "--yes")).data).toMatchObject({ plan_id: first });
  expect((await world.said("plan", "redo", "--yes")).data).toMatchObject({ plan_id: second });
  const none = await world.said("plan", "apply", "--yes");
  expect(none).toMatchObject({ exit_code: 3, error: { message: 'No plan of this directory fits "plan apply" now.' } });
});

test("where no one can be asked, a plan that was not named is not applied, undone, redone, canceled or sent back", async () => {
  using world = new SessionWorld();
  const [, second] = await twoPlans(world);
  const head = world.head();
  for (const verb of ["apply", "cancel", "revert"]) {
    const { exit_code: code, error } = await world.said("plan", verb);
    expect([verb, code, error?.message]).toEqual([verb, 2, expect.stringMatching(/newest here.* 2 .*add a license/)]);
    expect(error?.detail).toMatchObject({ candidates: [second] });
    expect(error?.suggestions).toEqual([`agents plan ${verb} ${second}`]);
  }
  expect(world.head()).toBe(head);
  expect((await world.said("plan", "status")).data).toMatchObject({ standing: "ready to review" });
  expect((await world.said("plan", "cancel", "--yes")).data).toMatchObject({ plan_id: second });
});

test("last, a number, a name and unique words name a plan", async () => {
  using world = new SessionWorld();
  const [first, second] = await twoPlans(world);
  const named = async (...words: string[]): Promise<unknown> =>
    (await world.said("plan", "status", ...words)).data["plan_id"];
  expect(await named("last")).toBe(second);
  expect(await named("@last")).toBe(second);
  expect(await named("1")).toBe(first);
  expect(await named("NOTE")).toBe(first);
  expect(await named("license add")).toBe(second);
  expect((await named(first.slice(0, 12).toLowerCase())) ?? first).toBe(first);
  const { data } = await world.said("plan", "status", first);
  expect(await named(String(data["name"]))).toBe(first);
  expect(await world.said("plan", "status", "99")).toMatchObject({ exit_code: 3 });
  expect(await world.said("plan", "status", "sandwich")).toMatchObject({ exit_code: 3 });
  const several = await world.said("plan", "status", "a");
  expect(several).toMatchObject({
    exit_code: 2,
    error: {
      message: 'Several plans fit "a": 2 (add a license), 1 (write a note).',
      detail: { candidates: [second, first] },
    },
  });
});

test("plans of other directories are not meant, unless their words are", async () => {
  using world = new SessionWorld();
  const [first] = await twoPlans(world);
  const other = makeRepository(join(world.directory, "other"));
  const here = await world.run(["plan", "status", "--format", "json"], { cwd: other });
  expect(JSON.parse(here.stdout)).toMatchObject({ exit_code: 3, error: { message: `No plan works on ${other}.` } });
  const words = await world.run(["plan", "status", "write a note", "--format", "json"], { cwd: other });
  expect(JSON.parse(words.stdout)).toMatchObject({ data: { plan_id: first } });
});

test("guidance goes to the newest plan, and a text without quotes is not taken for a plan", async () => {
  using world = new SessionWorld();
  const [, second] = await twoPlans(world);
  const told = await world.said("plan", "prompt", "use the MIT license");
  expect(told).toMatchObject({ exit_code: 0, data: { plan_id: second } });
  const unquoted = await world.said("plan", "prompt", "license", "is", "MIT");
  expect(unquoted).toMatchObject({ exit_code: 3, error: { message: 'There is no plan "license".' } });
  expect(await world.said("plan", "prompt")).toMatchObject({ exit_code: 2 });
});

test("plan explain takes a step of the newest plan here", async () => {
  using world = new SessionWorld();
  const [, second] = await twoPlans(world);
  const { data, error } = await world.said("plan", "explain", "write-LICENSE");
  expect(error).toBeUndefined();
  expect(JSON.stringify(data)).toContain(second);
  expect((await world.said("plan", "explain")).error).toBeUndefined();
});

test("agents alone names what waits, what it needs and the one command", async () => {
  using world = new SessionWorld();
  const [first, second] = await twoPlans(world);
  const asked = await world.said("run", "write a note", "--automation-profile", "manual");
  expect((await world.said()).data["waiting"]).toEqual([
    expect.objectContaining({
      plan_id: asked.data["plan_id"],
      standing: "waiting for you",
      needs: "a yes to its strategy",
      next: "agents plan execute 3",
    }),
    expect.objectContaining({ plan_id: second, needs: "a review of 1 file", next: "agents plan diff 2", here: true }),
    expect.objectContaining({ plan_id: first, request: "write a note", next: "agents plan diff 1" }),
  ]);
  await world.said("plan", "apply", first, "--yes");
  await world.said("plan", "cancel", String(asked.data["plan_id"]));
  const { stdout } = await world.run([], { cwd: world.repository });
  expect(stdout).toMatch(/add a license\s+a review of 1 file\s+agents plan diff 2/);
  expect(stdout).not.toContain("write a note");
});
