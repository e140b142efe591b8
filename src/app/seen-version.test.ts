import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConflictError } from "../domain/errors/errors.ts";
import type { Ask } from "./base/call.ts";
import { calls, FIX, LoopWorld, step, strategy } from "./testing/loop-world.ts";

/** A person says yes to what was shown; another process may have changed the plan before the answer comes. */
const TURNS = [
  strategy(FIX),
  step("follow-up-1", { match: { tool: "write_file" }, text: "More is done." }),
  step("follow-up-1", calls("write_file", { path: "b.txt", content: "unseen\n" })),
  step("fix", { match: { tool: "write_file" }, text: "Done." }),
  step("fix", { thought: "The file is missing.", ...calls("write_file", { path: "b.txt", content: "seen\n" }) }),
];

async function world(): Promise<LoopWorld> {
  const made = new LoopWorld();
  made.script(...TURNS);
  return made;
}

async function asked(loop: LoopWorld, ask: Ask): Promise<unknown> {
  const agents = await loop.agents();
  const wish = { request: "fix it", directory: loop.repository, automationProfile: "supervised" };
  return agents
    .run("run", wish, { answers: "person", ask, tell: (event) => loop.events.push(event) })
    .catch((error: unknown) => error);
}

async function plan(loop: LoopWorld): Promise<string> {
  const { plans } = await (await loop.agents()).run("plan.list", {});
  return String(plans[0]?.planId);
}

test("a yes to a strategy is refused when the plan went on meanwhile", async () => {
  await using loop = await world();
  const outcome = await asked(loop, async ({ kind }) => {
    if (kind === "strategy") await (await loop.agents()).run("plan.execute", { plan: await plan(loop) });
    return { kind: "yes" };
  });
  expect(outcome).toBeInstanceOf(ConflictError);
  expect(String(outcome)).toContain("has changed in the meantime: it is now executed but not applied");
});

test("a yes to a diff is refused when the plan has other changes by then, and nothing lands", async () => {
  await using loop = await world();
  const outcome = await asked(loop, async ({ kind }) => {
    const agents = await loop.agents();
    if (kind === "confirm") {
      await agents.run("plan.prompt", { plan: await plan(loop), text: "more of it" });
      await agents.run("plan.execute", { plan: await plan(loop) });
    }
    return { kind: "yes" };
  });
  expect(outcome).toBeInstanceOf(ConflictError);
  expect(existsSync(join(loop.repository, "b.txt"))).toBe(false);
  expect((await (await loop.agents()).run("plan.status", { plan: await plan(loop) })).state).toBe("complete");
});

test("a person sees the diff and how it was checked before the yes; thoughts are told on the way", async () => {
  await using loop = await world();
  const shown: string[] = [];
  const outcome = await asked(loop, async (question) => {
    if (question.kind === "confirm") shown.push(...question.shown.map(({ kind }) => kind));
    return { kind: "yes" };
  });
  expect(outcome).toMatchObject({ state: "applied" });
  expect(shown).toEqual(["diff", "checked", "landings"]);
  const thought = loop.events.flatMap((event) => (event.type === "thought" ? [event.text] : []));
  expect(thought.join("")).toBe("The file is missing.");
  const tools = loop.events.filter(({ type }) => type === "tool_started");
  expect(tools).toMatchObject([{ tool: "write_file", path: "b.txt" }]);
});

test("the files of a plan come with their whole texts before and after, and with their place in the checkout", async () => {
  await using loop = await world();
  const binary = { path: "c.bin", content: "a\0b" };
  loop.script(
    strategy(FIX),
    step("fix", { match: { tool: "shell_execute" }, text: "Done." }),
    step("fix", {
      match: { tool: "edit_file" },
      ...calls("shell_execute", { command: String.raw`printf '\000\001' > ${binary.path}; rm README` }),
    }),
    step("fix", {
      match: { tool: "write_file" },
      ...calls("edit_file", { path: "a.txt", old_string: "two", new_string: "2" }),
    }),
    step("fix", calls("write_file", { path: "b.txt", content: "new\n" })),
  );
  const { planId } = await loop.run("fix it");
  const { texts, version } = await (await loop.agents()).run("plan.artifacts", { plan: planId, texts: true });
  const place = (path: string): string => join(loop.repository, path);
  expect(version).toBeGreaterThan(0);
  expect(texts).toEqual([
    {
      resource: "shop",
      path: "README",
      place: place("README"),
      before: expect.any(String),
      after: null,
      leftOut: null,
    },
    { resource: "shop", path: "a.txt", place: place("a.txt"), before: "one\ntwo\n", after: "one\n2\n", leftOut: null },
    { resource: "shop", path: "b.txt", place: place("b.txt"), before: null, after: "new\n", leftOut: null },
    { resource: "shop", path: "c.bin", place: place("c.bin"), before: null, after: null, leftOut: "binary" },
  ]);
});

test("apply, undo, redo, rollback and cancel are refused for a version that the plan no longer has", async () => {
  await using loop = await world();
  const { planId: plan } = await loop.run("fix it");
  const agents = await loop.agents();
  const versionOf = async (): Promise<number> => (await agents.run("plan.status", { plan })).version;
  const { checkpoints } = (await agents.run("plan.rollback", { plan })) as { checkpoints: { id: string }[] };
  const stale = { plan, expectedVersion: (await versionOf()) - 1 };
  const refusals = [
    agents.run("plan.apply", stale),
    agents.run("plan.rollback", { ...stale, checkpoint: String(checkpoints[0]?.id) }),
    agents.run("plan.cancel", stale),
  ];
  for (const refusal of refusals)
    await expect(refusal).rejects.toThrow(/is now executed but not applied, at version \d+ instead/);
  for (const operation of ["plan.apply", "plan.undo", "plan.redo"] as const) {
    const expectedVersion = await versionOf();
    expect(await agents.run(operation, { plan, expectedVersion })).toMatchObject({ planId: plan });
    const again = operation === "plan.undo" ? "plan.redo" : "plan.undo";
    await expect(agents.run(again, { plan, expectedVersion })).rejects.toThrow("instead of");
  }
  expect(existsSync(join(loop.repository, "b.txt"))).toBe(true);
});
