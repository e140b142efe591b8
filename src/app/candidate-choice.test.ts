/** How one of several candidates is chosen: by a rule, by a judge, by a person at a terminal. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { definitionAnywhere } from "../testing/profile-anywhere.ts";
import type { Ask, Question, Reply } from "./base/call.ts";
import { CandidatesWorld, judge, writer } from "./testing/candidates-world.ts";

/** Writes a file and then runs the project's own check, with this exit code. */
function checkedWriter(path: string, code: number, tokens = 1_000): object[] {
  const [strategy, , write] = writer(path, `${path}\n`, { tokens }) as [object, object, object];
  const step = 'step "write"';
  // The comment names the project's check; the program itself need not be installed.
  const command = `exit ${code} # make test`;
  return [
    strategy,
    { match: { user: step, tool: "shell_execute" }, text: `I wrote ${path}.` },
    {
      match: { user: step, tool: "write_file" },
      tool_calls: [{ tool: "shell_execute", parameters: { command } }],
    },
    write,
  ];
}

/** A project that checks itself, and a profile under which commands run everywhere. */
async function checkingWorld(): Promise<CandidatesWorld & { readonly profile: string }> {
  const world = new CandidatesWorld();
  world.commit({ Makefile: "test:\n\ttrue\n" });
  const definition = definitionAnywhere("trusted");
  const text = JSON.stringify(definition);
  const agents = await world.agents();
  await agents.run("automation-profile.add", { definition: { text, file: "anywhere.yaml", outside: false } });
  return Object.assign(world, { profile: `local/${String(definition["name"])}` });
}

test("by checks, a candidate whose checks failed is not chosen although it is cheaper", async () => {
  await using world = await checkingWorld();
  const actor = [
    world.model("cheap", checkedWriter("cheap.txt", 1)),
    world.model("dear", checkedWriter("dear.txt", 0, 9_000)),
  ];
  const output = await world.compete({ actor, choose: "checks", automationProfile: world.profile });
  expect(output.candidates).toMatchObject([
    { situation: "ready", chosen: false, checked: { outcome: "failed" } },
    { situation: "applied", chosen: true, checked: { outcome: "passed" } },
  ]);
  expect(existsSync(join(world.repository, "cheap.txt"))).toBe(false);
});

test("where the checks failed on all, none is applied without a word that covers it", async () => {
  await using world = await checkingWorld();
  const actor = [
    world.model("one", checkedWriter("one.txt", 1)),
    world.model("two", checkedWriter("two.txt", 2, 9_000)),
  ];
  const wish = { actor, choose: "checks", automationProfile: world.profile } as const;
  const refused = await world.compete(wish);
  expect(refused).toMatchObject({ applied: null, chosen: null });
  expect(refused.notApplied).toContain("--apply-anyway");
  expect(existsSync(join(world.repository, "one.txt"))).toBe(false);
  const { applied } = await world.compete({ request: "", continue: true, applyAnyway: true });
  expect(applied?.planId).toBe(refused.candidates[0]?.planId);
  expect(readFileSync(join(world.repository, "one.txt"), "utf8")).toBe("one.txt\n");
});

test("by cost, the cheapest is chosen, also against the judge", async () => {
  await using world = new CandidatesWorld();
  const actor = [
    world.model("dear", writer("dear.txt", "dear\n", { tokens: 9_000 })),
    world.model("cheap", writer("cheap.txt", "cheap\n")),
  ];
  const wise = world.model("wise", judge("A", "It is better."));
  const output = await world.compete({ actor, judge: wise, choose: "cheapest" });
  expect(output.verdict).toMatchObject({ candidate: 1 });
  expect(output.applied?.planId).toBe(output.candidates[1]?.planId);
});

test("by the judge, its candidate is chosen against the checks and the cost", async () => {
  await using world = await checkingWorld();
  const actor = [
    world.model("one", checkedWriter("one.txt", 0)),
    world.model("two", checkedWriter("two.txt", 1, 9_000)),
  ];
  const wise = world.model("wise", judge("b", "The second is right."));
  const wish = { actor, judge: wise, choose: "judge", applyAnyway: true, automationProfile: world.profile } as const;
  const output = await world.compete(wish);
  expect(output.applied?.planId).toBe(output.candidates[1]?.planId);
});

const recommends = (parameters: object): object => ({ tool_calls: [{ tool: "recommend", parameters }] });

test.each([
  ["no call", { text: "The first." }, "You did not call recommend."],
  ["an unknown letter", recommends({ candidate: "H", reasons: "It is best." }), "There is no candidate H."],
  ["no reasons", recommends({ candidate: "A" }), "reasons: "],
])("a judge that answers badly (%s) is told so and asked once more", async (_, bad, told) => {
  await using world = new CandidatesWorld();
  const actor = [world.model("one", writer("one.txt", "1\n")), world.model("two", writer("two.txt", "2\n"))];
  const [good] = judge("B", "The second.") as [object];
  const wise = world.model("wise", [
    { ...bad, match: { user: "# Request" } },
    { ...good, match: { user: told } },
  ]);
  const output = await world.compete({ actor, judge: wise, choose: "judge" });
  expect(output.verdict).toMatchObject({ candidate: 2 });
  expect(output.applied?.planId).toBe(output.candidates[1]?.planId);
});

test("a judge that never answers well leaves the candidates as they are; it can be asked again later", async () => {
  await using world = new CandidatesWorld();
  const actor = [world.model("one", writer("one.txt", "1\n")), world.model("two", writer("two.txt", "2\n"))];
  const usage = { input_tokens: 2_000, output_tokens: 100 };
  const wise = world.model("wise", [{ text: "I cannot say.", times: "always", usage }]);
  const output = await world.compete({ actor, judge: wise, choose: "judge" });
  expect(output).toMatchObject({ verdict: null, applied: null, chosen: null });
  expect(output.notApplied).toBe("the judge gave no verdict");
  const warnings = world.events.flatMap((event) => (event.type === "notice" ? [event.text] : []));
  expect(warnings).toContainEqual(expect.stringContaining("wise/transcript recommended none of the candidates"));
  // Its two answers are paid for, besides three calls of each candidate.
  expect(output.cost.spentUsd).toBeCloseTo(6 * 0.0045 + 2 * 0.0075, 6);
  world.model("wise", judge("A", "The first after all."));
  const agents = await world.agents();
  const compared = await agents.run("plan.compare", { id: output.groupId, judge: wise });
  expect(compared.verdict).toMatchObject({ candidate: 1, reasons: "The first after all." });
});

const says = (text: string): Reply => ({ kind: "text", text });
const YES: Reply = { kind: "yes" };
const NO: Reply = { kind: "no" };

/** Gives these answers in turn to the choice, and these to the confirmations; keeps what was asked. */
function person(choices: readonly Reply[], confirms: readonly Reply[]): { ask: Ask; asked: Question[] } {
  const [choice, confirm] = [choices.values(), confirms.values()];
  const asked: Question[] = [];
  const ask: Ask = (question) => {
    asked.push(question);
    if (question.kind === "strategy") return Promise.resolve(YES);
    const { value } = question.kind === "choice" ? choice.next() : confirm.next();
    if (value === undefined) throw new Error(`asked too often: ${question.text}`);
    return Promise.resolve(value);
  };
  return { ask, asked };
}

test("a person sees the comparison, asks for a diff, declines one and takes the other", async () => {
  await using world = new CandidatesWorld();
  const actor = [
    world.model("one", writer("one.txt", "1\n")),
    world.model("two", writer("two.txt", "2\n", { tokens: 9_000 })),
  ];
  const { ask, asked } = person([says("7"), says("diff 2"), says("1"), says(" 2 ")], [NO, YES]);
  const output = await world.compete({ actor, automationProfile: "supervised" }, { ask });
  const questions = asked.filter(({ kind }) => kind === "choice" || kind === "confirm");
  expect(questions.map((one) => [one.kind, "shown" in one ? one.shown.map(({ kind }) => kind) : []])).toMatchObject([
    ["choice", ["comparison"]],
    ["choice", []],
    ["choice", ["diff"]],
    ["confirm", expect.arrayContaining(["diff"])],
    ["choice", []],
    ["confirm", expect.arrayContaining(["diff"])],
  ]);
  expect(JSON.stringify(questions[2])).toContain("two.txt");
  expect(questions[0]).toMatchObject({ alternatives: ["1", "2"] });
  expect(world.events).toContainEqual({ type: "notice", level: "warning", text: "Say one of 1, 2." });
  expect(output.chosen?.planId).toBe(output.candidates[1]?.planId);
  expect(existsSync(join(world.repository, "one.txt"))).toBe(false);
  expect(readFileSync(join(world.repository, "two.txt"), "utf8")).toBe("2\n");
});

test("a person who wants none leaves all of them; yes means the best", async () => {
  await using world = new CandidatesWorld();
  const actor = [
    world.model("one", writer("one.txt", "1\n", { tokens: 9_000 })),
    world.model("two", writer("two.txt", "2\n")),
  ];
  const declined = await world.compete({ actor }, { ask: person([NO], []).ask });
  expect(declined).toMatchObject({ applied: null, chosen: null, notApplied: null });
  expect(declined.candidates.map(({ situation }) => situation)).toEqual(["ready", "ready"]);
  const { ask } = person([YES], [YES]);
  const taken = await world.compete({ request: "", continue: true }, { ask });
  expect(taken.applied?.planId).toBe(declined.candidates[1]?.planId);
});

test("a choice under a profile that asks is refused where no one can be asked, and nothing is chosen", async () => {
  await using world = new CandidatesWorld();
  const actor = [world.model("one", writer("one.txt", "1\n")), world.model("two", writer("two.txt", "2\n"))];
  const wish = { actor, choose: "cheapest", automationProfile: "supervised" } as const;
  const output = await world.compete(wish, { answers: "none" });
  expect(output).toMatchObject({ applied: null, chosen: null });
  const agents = await world.agents();
  const plan = output.candidates[0]?.planId ?? "";
  expect(output.candidates.map(({ situation }) => situation)).toEqual(["strategy", "strategy"]);
  for (const { planId } of output.candidates) await agents.run("plan.execute", { plan: planId });
  const choosing = agents.run("plan.choose", { plan }, { answers: "none" });
  await expect(choosing).rejects.toMatchObject({ code: "usage" });
  expect((await agents.run("plan.compare", { id: plan })).chosen).toBeNull();
  const declined = await agents.run("plan.choose", { plan }, { ask: person([], [NO]).ask });
  expect(declined).toEqual({ applied: false });
  expect((await agents.run("plan.compare", { id: plan })).chosen).toBeNull();
});

test("only an executed candidate can be chosen, and only a candidate", async () => {
  await using world = new CandidatesWorld();
  const one = world.model("one", writer("one.txt", "1\n"));
  const bad = world.model("bad", [{ error: "refused", times: "always" }]);
  const { candidates } = await world.compete({ actor: [one, bad] }, { answers: "none" });
  const agents = await world.agents();
  const stopped = candidates[1]?.planId ?? "";
  await expect(agents.run("plan.choose", { plan: stopped })).rejects.toThrow(
    "only an executed candidate can be chosen",
  );
  const wish = { request: "write", directory: world.repository, automationProfile: "trusted", actor: one };
  const single = await agents.run("run", wish, { answers: "none" });
  const choosing = agents.run("plan.choose", { plan: single.planId });
  await expect(choosing).rejects.toThrow("is not one of several candidates");
  const comparing = agents.run("plan.compare", { id: single.planId });
  await expect(comparing).rejects.toThrow("is not one of several candidates");
});
