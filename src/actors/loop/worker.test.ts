import { describe, expect, test } from "vitest";
import { StuckError } from "../../domain/errors/errors.ts";
import type { DecisionId } from "../../domain/names/ids.ts";
import { PlayedEffects, type Played } from "../testing/played-effects.ts";
import { CALL_LIMIT, workOn, type Work } from "./worker.ts";

const TOOLS = ["read_file", "write_file"].map((name) => ({ name, description: name, parameters: {} }));

const WORK: Work = {
  step: "write",
  description: "Write it",
  decision: "step" as DecisionId,
  model: { provider: "scripted", model: "x" },
  settings: { temperature: 0 },
  system: "the whole briefing",
  tools: TOOLS,
  memory: {},
  responseSchema: undefined,
  gaveUp: 0,
  count: (text) => text.length,
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
  expect(effects.asked.every(({ call }) => call.system === WORK.system && call.settings.temperature === 0)).toBe(true);
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
    output: { text: "x".repeat(60_000) },
  }));
  await workOn(WORK, effects);
  const output = String((effects.asked[1]?.call.messages.at(-1) as { output?: string } | undefined)?.output);
  expect(output.length).toBeLessThan(51_000);
  expect(output).toMatch(/\[cut here: 50000 of 60011 characters are shown; ask for less at a time\]$/);
});

describe("a model that does not get on", () => {
  test("is stopped after so many calls, and continues for as many when the user says so", async () => {
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
    expect(await workOn({ ...WORK, tools: [] }, new PlayedEffects([{ text: "42" }]))).toBe("42");
  });
});

test("of a long conversation it is shown as much as its actor remembers, never a result without its call", async () => {
  const effects = new PlayedEffects((turn) => (turn < 8 ? write(String(turn)) : { text: "done" }));
  await workOn({ ...WORK, memory: { maxMessages: 5 } }, effects);
  const last = effects.asked.at(-1)?.call.messages ?? [];
  expect(last.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "tool"]);
  const small = new PlayedEffects((turn) => (turn < 4 ? write("x".repeat(400)) : { text: "done" }));
  await workOn({ ...WORK, memory: { maxTokens: 10 } }, small);
  expect(small.asked.at(-1)?.call.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
});
