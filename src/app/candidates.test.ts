/** Several candidates of one request: tried at once, compared, one chosen and applied, the others kept. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git } from "../testing/git-repository.ts";
import { openCleverAgents } from "./open.ts";
import { CandidatesWorld, judge, writer } from "./testing/candidates-world.ts";

test("two actors try a request at once; the cheaper one is applied, the other stays and can still be applied", async () => {
  await using world = new CandidatesWorld();
  const actor = [
    world.model("dear", writer("note.txt", "dear\n", { tokens: 9_000 })),
    world.model("cheap", writer("other.txt", "cheap\n")),
  ];
  const output = await world.compete({ actor });
  expect(output.candidates).toMatchObject([
    { candidate: 1, actor: "dear/transcript", situation: "ready", chosen: false, changes: { files: 1 } },
    { candidate: 2, actor: "cheap/transcript", situation: "applied", chosen: true, changes: { files: 1 } },
  ]);
  expect(output.agreement).toEqual({
    same: [],
    different: [],
    some: [
      { path: "note.txt", candidates: [1] },
      { path: "other.txt", candidates: [2] },
    ],
  });
  expect(output.applied).toMatchObject({ applied: true, planId: output.candidates[1]?.planId });
  expect(readFileSync(join(world.repository, "other.txt"), "utf8")).toBe("cheap\n");
  expect(existsSync(join(world.repository, "note.txt"))).toBe(false);
  const plan = output.candidates[0]?.planId ?? "";
  const agents = await world.agents();
  expect(await agents.run("plan.apply", { plan })).toMatchObject({ applied: true });
  expect(readFileSync(join(world.repository, "note.txt"), "utf8")).toBe("dear\n");
});

test("one failing candidate does not stop the other, and why it failed is in the comparison", async () => {
  await using world = new CandidatesWorld();
  const actor = [
    world.model("bad", [{ error: "refused", text: "no" }]),
    world.model("good", writer("note.txt", "good\n")),
  ];
  const { candidates, applied } = await world.compete({ actor });
  expect(candidates[0]).toMatchObject({ situation: "stopped" });
  expect(candidates[0]?.error).toContain("refused");
  expect(applied?.planId).toBe(candidates[1]?.planId);
});

test("when all fail nothing is applied, and it says so", async () => {
  await using world = new CandidatesWorld();
  const before = git(world.repository, "rev-parse", "HEAD");
  const output = await world.compete({ actor: world.model("bad", [{ error: "refused", times: "always" }]), bestOf: 2 });
  expect(output).toMatchObject({ best: null, applied: null, chosen: null });
  expect(output.notApplied).toContain("no candidate has a result");
  expect(output.candidates.map(({ situation }) => situation)).toEqual(["stopped", "stopped"]);
  expect(git(world.repository, "rev-parse", "HEAD")).toBe(before);
});

test("the judge reads the diffs without names; its recommendation wins and is a billed decision of the winner", async () => {
  await using world = new CandidatesWorld();
  const actor = [
    world.model("one", writer("note.txt", "first\n", { tokens: 9_000 })),
    world.model("two", writer("note.txt", "second\n")),
  ];
  const output = await world.compete({ actor, judge: world.model("wise", judge("A", "The first is shorter.")) });
  const [first] = output.candidates;
  expect(output.verdict).toMatchObject({ judge: "wise/transcript", candidate: 1, reasons: "The first is shorter." });
  expect(output.applied?.planId).toBe(first?.planId);
  expect(output.agreement).toEqual({ same: [], different: ["note.txt"], some: [] });
  const agents = await world.agents();
  const { context } = await agents.run("plan.explain", { id: output.verdict?.decisionId ?? "", showContext: true });
  expect(String(context)).toContain("+first");
  expect(String(context)).toContain("+second");
  expect(String(context)).not.toContain("one/transcript");
  const { cost } = await agents.run("plan.budget", { plan: first?.planId ?? "" });
  // Three calls of its own, and the judge's.
  expect(cost).toMatchObject({ calls: 4, spentUsd: 0.093 });
  expect(await agents.run("audit.verify", {})).toMatchObject({ verified: true });
  // The same results are not judged twice.
  const again = await agents.run("plan.compare", { id: output.groupId, judge: "wise/transcript" });
  expect(again.cost).toEqual(output.cost);
});

test("of two callers that choose different candidates at once, one wins and the other gets a conflict", async () => {
  await using world = new CandidatesWorld();
  const actor = [world.model("one", writer("one.txt", "1\n")), world.model("two", writer("two.txt", "2\n"))];
  const waiting = await world.compete({ actor }, { answers: "none" });
  expect(waiting).toMatchObject({ chosen: null, applied: null, notApplied: null });
  const plans = waiting.candidates.map(({ planId }) => planId);
  const agents = await world.agents();
  const outcomes = await Promise.allSettled(plans.map((plan) => agents.run("plan.choose", { plan })));
  const lost = outcomes.filter((one) => one.status === "rejected");
  expect(lost).toHaveLength(1);
  expect(lost[0]?.reason).toMatchObject({ code: "conflict" });
  const { chosen, candidates } = await agents.run("plan.compare", { id: plans[0] ?? "" });
  const won = outcomes.findIndex(({ status }) => status === "fulfilled");
  expect(chosen?.planId).toBe(plans[won]);
  expect(candidates.map(({ situation }) => situation)).toEqual(won === 0 ? ["applied", "ready"] : ["ready", "applied"]);
  const written = ["one.txt", "two.txt"].filter((file) => existsSync(join(world.repository, file)));
  expect(written).toEqual([won === 0 ? "one.txt" : "two.txt"]);
});

test("cleanup cancels the candidates that were not chosen, and only after the chosen one is applied and stands", async () => {
  await using world = new CandidatesWorld();
  const actor = [world.model("one", writer("one.txt", "1\n")), world.model("two", writer("two.txt", "2\n"))];
  const { candidates } = await world.compete({ actor }, { answers: "none" });
  const [first, second] = candidates.map(({ planId }) => planId) as [string, string];
  const agents = await world.agents();
  expect(await agents.run("cleanup.run", {})).toEqual({ removed: [], cancelled: [] });
  // A plan that is applied directly is the chosen one, too.
  await agents.run("plan.apply", { plan: second });
  await agents.run("plan.undo", { plan: second });
  expect((await agents.run("cleanup.run", {})).cancelled).toEqual([]);
  await agents.run("plan.redo", { plan: second });
  const { plans } = await agents.run("plan.list", {});
  expect(plans.map(({ planId, chosen }) => [planId, chosen])).toEqual([
    [second, true],
    [first, false],
  ]);
  const listed = await agents.run("cleanup.list", {});
  expect(listed.sandboxes.map(({ planId, removable }) => [planId, removable])).toContainEqual([first, true]);
  expect(await agents.run("cleanup.run", {})).toMatchObject({ cancelled: [first] });
  expect(await agents.run("plan.status", { plan: first })).toMatchObject({
    state: "cancelled",
    cancelReason: `the candidate ${second} was applied instead`,
    candidateOf: { chosenPlan: second },
  });
});

test("the chosen one is undone beside another that was applied after it", async () => {
  await using world = new CandidatesWorld();
  const actor = [world.model("one", writer("one.txt", "1\n")), world.model("two", writer("two.txt", "2\n"))];
  const { candidates, applied } = await world.compete({ actor });
  const other = candidates.find(({ planId }) => planId !== applied?.planId)?.planId ?? "";
  const agents = await world.agents();
  await agents.run("plan.apply", { plan: other });
  await agents.run("plan.undo", { plan: applied?.planId ?? "" });
  expect(existsSync(join(world.repository, "one.txt"))).toBe(false);
  expect(readFileSync(join(world.repository, "two.txt"), "utf8")).toBe("2\n");
});

test("a candidate that hangs does not keep another caller from choosing; then it stops, and can continue later", async () => {
  await using world = new CandidatesWorld();
  const actor = [
    world.model("quick", writer("quick.txt", "1\n")),
    world.model("slow", writer("slow.txt", "2\n", { delayMs: 60_000 })),
  ];
  const ready = Promise.withResolvers<string>();
  const tell = (event: (typeof world.events)[number]): void => {
    if (event.type === "candidate_ended" && event.outcome === "ready") ready.resolve(event.plan);
  };
  const running = world.compete({ actor }, { tell, answers: "none" });
  const plan = await ready.promise;
  const other = await openCleverAgents({ dataDir: world.dataDir, settings: world.settings, environment: process.env });
  expect(await other.run("plan.choose", { plan })).toMatchObject({ applied: true });
  await other[Symbol.asyncDispose]();
  const { candidates, chosen } = await running;
  expect(chosen?.planId).toBe(plan);
  expect(candidates[1]).toMatchObject({ situation: "stopped", chosen: false });
});

test("the budget holds for all candidates together, although each of them would fit into it", async () => {
  await using world = new CandidatesWorld();
  // A call costs $0.1215, and $0.14 at the most: one candidate with its three calls fits, two do not.
  const actor = world.model("one", writer("one.txt", "1\n", { tokens: 40_000 }));
  const { candidates, cost } = await world.compete({ actor, bestOf: 3, budget: "0.6" }, { answers: "none" });
  expect(cost.capUsd).toBe(0.6);
  expect(cost.spentUsd).toBeGreaterThan(0.3);
  expect(cost.spentUsd + cost.assumedUsd + cost.reservedUsd).toBeLessThanOrEqual(0.6);
  expect(cost.calls).toBeLessThanOrEqual(4);
  const refused = candidates.filter(({ error }) => error?.includes("budget of all candidates") === true);
  expect(refused.length).toBeGreaterThanOrEqual(2);
});

test("wishes that cannot be met are refused before anything is written", async () => {
  await using world = new CandidatesWorld();
  const actor = world.model("one", writer("one.txt", "1\n"));
  const greeter =
    "name: greeter\ntype: tool\ndescription: greets\nsteps:\n  - { id: a, tool: read_file, params: { path: x } }\n";
  await (
    await world.agents()
  ).run("actor.add", {
    definition: { text: greeter, file: "greeter.yaml", outside: false },
  });
  const unknown = { code: "not_found", message: 'There is no actor "missing/here".' };
  const usage = (text: string): object => ({ code: "usage", message: expect.stringContaining(text) });
  const wishes = [
    [{ actor: [actor, actor, actor], bestOf: 2 }, usage("--best-of 2 is less than the 3 actors")],
    [{ actor, judge: actor }, usage("--judge and --choose need several candidates")],
    [{ actor, choose: "cheapest" as const }, usage("--judge and --choose need several candidates")],
    [{ actor, bestOf: 2, choose: "judge" as const }, usage("--choose judge needs --judge")],
    [{ actor, bestOf: 9 }, usage("bestOf: must be at most 8")],
    [{ actor: Array.from({ length: 9 }, () => actor) }, usage("9 candidates are more than the 8")],
    [{ actor, bestOf: 2, judge: "local/greeter" }, usage('"local/greeter" is not a single model')],
    [{ actor: [actor, "missing/here"] }, unknown],
    [{ actor, bestOf: 2, judge: "missing/here" }, unknown],
  ] as const;
  for (const [wish, error] of wishes) await expect(world.compete(wish)).rejects.toMatchObject(error);
  expect((await (await world.agents()).run("plan.list", {})).plans).toEqual([]);
});
