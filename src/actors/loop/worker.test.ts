import { describe, expect, test } from "vitest";
import { StuckError } from "../../domain/errors/errors.ts";
import type { DecisionId } from "../../domain/names/ids.ts";
import { PlayedEffects, type Played } from "../testing/played-effects.ts";
import type { ToolOutcome } from "../../domain/plan/tool-outcome.ts";
import type { EffectCall } from "./actor-effects.ts";
import type { Talk } from "./agent-loop.ts";
import { controlTools } from "./control-tools.ts";
import { EXPLORE_TOOL } from "./explorer.ts";
import { workOn, type Work } from "./worker.ts";

const FILE_TOOLS = ["read_file", "write_file"].map((name) => ({ name, description: name, parameters: {} }));

const TALK: Talk = {
  model: { provider: "scripted", model: "x" },
  settings: { temperature: 0 },
  system: "the whole briefing",
  tools: [...FILE_TOOLS, ...controlTools(false)],
  memory: {},
  responseSchema: undefined,
  window: undefined,
  count: (text) => text.length,
};
const CALL_LIMIT = 25;

const WORK: Work = {
  talk: TALK,
  step: "write",
  description: "Write it",
  messages: [{ role: "user", content: 'Carry out the step "write": Write it' }],
  decision: "step" as DecisionId,
  gaveUp: 0,
  calls: CALL_LIMIT,
  readable: new Set(["read_file"]),
  names: { resources: ["api"], taken: ["write"] },
};

const write = (content = "x"): Played => ({ calls: [{ tool: "write_file", params: { path: "a", content } }] });

test("tools are called one after another, for the decision that asked for them, until the model answers with text", async () => {
  const both = { calls: [{ tool: "read_file", params: { path: "a" } }, ...(write().calls ?? [])] };
  const effects = new PlayedEffects([{ ...both, text: "I look first." }, { text: " It is written. " }]);
  expect(await workOn(WORK, effects)).toBe("It is written.");
  expect(effects.called.map(({ key, call }) => [key, call.tool, call.decision])).toEqual([
    ["1.1", "read_file", "decision-1"],
    ["1.2", "write_file", "decision-1"],
  ]);
  expect(effects.asked.map(({ key, type }) => [key, type])).toEqual([
    ["1", "tool_invocation"],
    ["2", "implementation_choice"],
  ]);
  expect(effects.asked.every(({ call }) => call.system === TALK.system && call.settings.temperature === 0)).toBe(true);
  expect(effects.asked[1]?.call.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool"]);
});

describe("what goes wrong is told to the model", () => {
  test.each<[string, Played, RegExp]>([
    ["a tool there is not", { calls: [{ tool: "write_fil" }] }, /no tool "write_fil"\. Did you mean write_file\?/],
    ["a tool that is like nothing", { calls: [{ tool: "zzzzzzzz" }] }, /There are: read_file, write_file/],
    ["parameters that are not JSON", { calls: [{ tool: "read_file", raw: "{oops" }] }, /not a JSON object: "\{oops"/],
  ])("%s", async (_, answer, told) => {
    const effects = new PlayedEffects([answer, { text: "NOTHING TO DO: after all" }]);
    await workOn(WORK, effects);
    expect(effects.called).toEqual([]);
    expect(effects.asked[1]?.call.messages.at(-1)).toMatchObject({ failed: true, output: expect.stringMatching(told) });
    expect(effects.asked[1]?.type).toBe("error_recovery");
  });

  test("a failing tool; what the model does about it is a recovery", async () => {
    const effects = new PlayedEffects([write("1"), write("2"), { text: "done" }], ({ params }) =>
      params["content"] === "1" ? { ok: false, error: "The disk says no." } : { ok: true, output: "ok" },
    );
    expect(await workOn(WORK, effects)).toBe("done");
    expect(effects.asked.map(({ type }) => type)).toEqual([
      "tool_invocation",
      "error_recovery",
      "implementation_choice",
    ]);
    expect(effects.asked[1]?.call.messages.at(-1)).toMatchObject({ failed: true, output: "The disk says no." });
  });
});

test("an output that is too long is cut and says so", async () => {
  const effects = new PlayedEffects([write(), { text: "done" }], () => ({
    ok: true,
    output: { text: "x".repeat(90_000) },
  }));
  await workOn(WORK, effects);
  const output = String((effects.asked[1]?.call.messages.at(-1) as { output?: string } | undefined)?.output);
  expect(output.length).toBeLessThan(81_000);
  expect(output).toMatch(/\[cut here: 80000 of 90011 characters are shown; ask for less at a time\]$/);
});

describe("a model that does not get on", () => {
  test("is stopped after so many calls, and gets as many again when the user says so", async () => {
    const endless = new PlayedEffects((turn) => write(String(turn)));
    await expect(workOn(WORK, endless)).rejects.toThrow(`is not done after ${CALL_LIMIT} calls`);
    expect(endless.asked).toHaveLength(CALL_LIMIT);
    const longer = new PlayedEffects((turn) => (turn <= CALL_LIMIT + 3 ? write(String(turn)) : { text: "done" }));
    expect(await workOn({ ...WORK, gaveUp: 1 }, longer)).toBe("done");
  });

  test("is stopped when the same call fails in the same way three times", async () => {
    const fails = { ok: false, error: "No." } as const;
    const effects = new PlayedEffects(
      () => write(),
      () => fails,
    );
    await expect(workOn(WORK, effects)).rejects.toThrow(/keeps calling "write_file".*keeps failing: No\./);
    expect(effects.called).toHaveLength(3);
    // Other parameters are another try.
    const trying = new PlayedEffects(
      (turn) => (turn < 9 ? write(String(turn)) : { text: "I give up." }),
      () => fails,
    );
    expect(await workOn(WORK, trying)).toBe("I give up.");
  });

  test.each<[string, Played]>([
    ["nothing", { text: " " }],
    ["text that is cut off", { text: "I will now", finish: "length" }],
    ["text instead of work", { text: "Just write x into a." }],
  ])("is reminded once when it answers %s, then stopped with what it said", async (_, answer) => {
    const mends = new PlayedEffects([answer, write(), { text: "done" }]);
    expect(await workOn(WORK, mends)).toBe("done");
    expect(mends.asked[1]?.call.messages.at(-1)).toMatchObject({ role: "user" });
    const effects = new PlayedEffects(() => answer);
    const error = await workOn(WORK, effects).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StuckError);
    expect(effects.asked).toHaveLength(2);
    expect((error as Error).message).toContain(answer.text?.trim() || "It answered: nothing");
  });

  test("may say that nothing has to be done", async () => {
    expect(await workOn(WORK, new PlayedEffects([{ text: "Nothing to do: it is there." }]))).toContain("it is there");
    // Without tools there is nothing but text.
    const bare = { ...WORK, talk: { ...TALK, tools: [] } };
    expect(await workOn(bare, new PlayedEffects([{ text: "42" }]))).toBe("42");
  });
});

test("of a long conversation it is shown as much as its actor remembers, never a result without its call", async () => {
  const effects = new PlayedEffects((turn) => (turn < 8 ? write(String(turn)) : { text: "done" }));
  await workOn({ ...WORK, talk: { ...TALK, memory: { maxMessages: 5 } } }, effects);
  const last = effects.asked.at(-1)?.call.messages ?? [];
  expect(last.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "tool"]);
  const small = new PlayedEffects((turn) => (turn < 4 ? write("x".repeat(400)) : { text: "done" }));
  await workOn({ ...WORK, talk: { ...TALK, memory: { maxTokens: 10 } } }, small);
  expect(small.asked.at(-1)?.call.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
});

/** Every call that writes changes files. */
const changing = ({ tool }: EffectCall): ToolOutcome =>
  tool === "write_file" ? { ok: true, output: "written", changed: true } : { ok: true, output: "text" };

describe("the model steers its own work", () => {
  const STEP_DONE = { calls: [{ tool: "step_done", params: { summary: "It is written." } }] };

  test("step_done ends the step, alone only", async () => {
    const effects = new PlayedEffects([{ calls: [...(write().calls ?? []), ...STEP_DONE.calls] }, STEP_DONE]);
    expect(await workOn(WORK, effects)).toBe("It is written.");
    const results = effects.asked[1]?.call.messages.filter(({ role }) => role === "tool");
    expect(results).toMatchObject([{ failed: false }, { failed: true, output: expect.stringMatching(/alone/) }]);
  });

  test("a question reaches the user, and the answer the model", async () => {
    const asks = {
      calls: [{ tool: "ask_user", params: { question: "Tabs or spaces?", options: ["tabs", "spaces"] } }],
    };
    const effects = new PlayedEffects([asks, write(), { text: "done" }]);
    effects.userAnswers.push("tabs");
    expect(await workOn(WORK, effects)).toBe("done");
    expect(effects.userQuestions).toEqual(["Tabs or spaces?"]);
    expect(effects.asked[1]?.call.messages.at(-1)).toMatchObject({ output: "The user answers: tabs" });
  });

  test("a text that only asks, after nothing was written, is a question too", async () => {
    const read = { calls: [{ tool: "read_file", params: { path: "a" } }] };
    const effects = new PlayedEffects(
      [read, { text: "Which of the two files?" }, write(), { text: "Done. Anything else?" }],
      changing,
    );
    effects.userAnswers.push("the first");
    expect(await workOn(WORK, effects)).toBe("Done. Anything else?");
    expect(effects.userQuestions).toEqual(["Which of the two files?"]);
  });

  test("a revision must fit; then the model is told what comes next", async () => {
    const revise = (...steps: object[]): Played => ({
      calls: [{ tool: "revise_strategy", params: { reason: "It is elsewhere.", steps: steps as never } }],
    });
    const effects = new PlayedEffects([
      revise({ id: "write", description: "again" }),
      revise({ id: "other", description: "Mend the other file", needs: ["write"] }),
      write(),
      { text: "done" },
    ]);
    await workOn(WORK, effects);
    expect(effects.asked[1]?.call.messages.at(-1)).toMatchObject({ output: expect.stringMatching(/has begun/) });
    expect(effects.revisions).toMatchObject([{ reason: "It is elsewhere.", steps: [{ id: "other" }] }]);
    expect(effects.asked[2]?.call.messages.at(-1)).toMatchObject({ output: expect.stringMatching(/come: other/) });
  });

  test("a checklist is shown", async () => {
    const items = [{ text: "look", state: "doing" }];
    const effects = new PlayedEffects([
      { calls: [{ tool: "update_checklist", params: { items } }] },
      write(),
      { text: "done" },
    ]);
    await workOn(WORK, effects);
    expect(effects.lists).toEqual([items]);
  });

  test("what people say on the way stands in the conversation from then on", async () => {
    const effects = new PlayedEffects([write("1"), write("2"), { text: "done" }]);
    effects.says.set("2", ["Use tabs."]);
    await workOn(WORK, effects);
    const told = { role: "user", content: "The user says: Use tabs." };
    expect(effects.asked[0]?.call.messages).not.toContainEqual(told);
    expect(effects.asked[1]?.call.messages).toContainEqual(told);
    expect(effects.asked[2]?.call.messages).toContainEqual(told);
  });

  test("a call that was cut off says so", async () => {
    const cut: Played = { calls: [{ tool: "write_file", raw: '{"path": "a", "conte' }], finish: "length" };
    const effects = new PlayedEffects([cut, write(), { text: "done" }]);
    await workOn(WORK, effects);
    expect(effects.asked[1]?.call.messages.at(-1)).toMatchObject({ output: expect.stringMatching(/cut off.*append/s) });
  });

  test("before the end it is reminded of what was not checked, once", async () => {
    const effects = new PlayedEffects([write(), { text: "done" }, { text: "It cannot be run here." }], changing);
    const beforeEnd: Work["beforeEnd"] = async (_, { unchecked }) => (unchecked ? "Run npm test." : undefined);
    expect(await workOn({ ...WORK, beforeEnd }, effects)).toBe("It cannot be run here.");
    expect(effects.asked[2]?.call.messages.at(-1)).toEqual({ role: "user", content: "Run npm test." });
  });
});

describe("a long conversation is made shorter, and never ends the work", () => {
  const talk = { ...TALK, window: 2_000 };

  test("old results are left out first, then the model hands over to itself; the beginning stays", async () => {
    const big = "line\n".repeat(100_000);
    const effects = new PlayedEffects(
      (turn) =>
        effects.asked.at(-1) === undefined || turn < 4
          ? { calls: [{ tool: "read_file", params: { path: String(turn) } }] }
          : { text: "done" },
      () => ({ ok: true, output: big.slice(0, 45_000) }),
    );
    await workOn({ ...WORK, talk: { ...talk, window: 100_000 } }, effects);
    const shown = effects.asked.at(-1)?.call.messages ?? [];
    expect(shown[0]).toEqual(WORK.messages[0]);
    expect(JSON.stringify(shown).length).toBeLessThan(100_000);
  });

  test("a handover keeps the first message and the newest exchange", async () => {
    const answers: Played[] = [write("a".repeat(900)), write("b".repeat(900)), { text: "HANDOVER" }, { text: "done" }];
    const effects = new PlayedEffects((turn) => answers[turn - 1] ?? { text: "done" });
    expect(await workOn({ ...WORK, talk }, effects)).toBe("done");
    expect(effects.asked.map(({ key }) => key)).toEqual(["1", "2", "compact-3", "3"]);
    const shown = effects.asked.at(-1)?.call.messages ?? [];
    expect(shown[0]).toEqual(WORK.messages[0]);
    expect(shown[1]).toMatchObject({ role: "user", content: expect.stringContaining("HANDOVER") });
    expect(shown.slice(2).map(({ role }) => role)).toEqual(["assistant", "tool"]);
  });
});

describe("a command that fails", () => {
  const run = { calls: [{ tool: "write_file", params: { path: "run" } }] };
  const fails: ToolOutcome = { ok: true, output: {}, text: "exit code 1", failure: "The command failed." };

  test("in the same way again and again stops the step", async () => {
    const effects = new PlayedEffects(
      () => run,
      () => fails,
    );
    await expect(workOn(WORK, effects)).rejects.toThrow("it keeps failing: The command failed.");
    expect(effects.asked).toHaveLength(3);
    expect(effects.asked[1]?.call.messages.at(-1)).toMatchObject({ output: "exit code 1", failed: false });
  });

  test("is not counted again once files have changed in between", async () => {
    const edit = { calls: [{ tool: "write_file", params: { path: "edit" } }] };
    const turns = [run, edit, run, edit, run, edit, run, { text: "done" }];
    const effects = new PlayedEffects(turns, ({ params }) =>
      params["path"] === "run" ? fails : { ok: true, output: {}, changed: true },
    );
    expect(await workOn(WORK, effects)).toBe("done");
  });
});

test("the calls of explorers count like those of the step", async () => {
  const explores: Played = { calls: [{ tool: "explore", params: { question: "Where?" } }] };
  const found: Played = { text: "Here." };
  const answers = [explores, found, explores, found];
  const effects = new PlayedEffects([...answers, ...answers]);
  const work = { ...WORK, calls: 4, talk: { ...WORK.talk, tools: [...WORK.talk.tools, EXPLORE_TOOL] } };
  await expect(workOn(work, effects)).rejects.toThrow('The step "write" is not done after 4 calls');
  expect(effects.asked).toHaveLength(4);
});
