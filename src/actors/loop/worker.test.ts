import { describe, expect, test } from "vitest";
import { StuckError } from "../../domain/errors/errors.ts";
import type { DecisionId } from "../../domain/names/ids.ts";
import type { ToolOutcome } from "../../domain/plan/tool-outcome.ts";
import { PlayedHands, type Played } from "../testing/played-effects.ts";
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
  const hands = new PlayedHands([{ ...both, text: "I look first." }, { text: " It is written. " }]);
  expect(await workOn(WORK, hands)).toBe("It is written.");
  expect(hands.called.map(({ key, call }) => [key, call.tool, call.decision])).toEqual([
    ["1.1", "read_file", "decision-1"],
    ["1.2", "write_file", "decision-1"],
  ]);
  expect(hands.asked.map(({ key, type }) => [key, type])).toEqual([
    ["1", "tool_invocation"],
    ["2", "implementation_choice"],
  ]);
  expect(hands.asked.every(({ call }) => call.system === WORK.system && call.settings.temperature === 0)).toBe(true);
  expect(hands.asked[1]?.call.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool"]);
});

describe("what goes wrong is told to the model", () => {
  test.each<[string, Played, RegExp]>([
    ["a tool there is not", { calls: [{ tool: "write_fil" }] }, /no tool "write_fil"\. Did you mean write_file\?/],
    ["a tool that is like nothing", { calls: [{ tool: "zzzzzzzz" }] }, /There are: read_file, write_file/],
    ["parameters that are no JSON", { calls: [{ tool: "read_file", raw: "{oops" }] }, /no JSON object: "\{oops"/],
  ])("%s", async (_, answer, told) => {
    const hands = new PlayedHands([answer, { text: "NOTHING TO DO: after all" }]);
    await workOn(WORK, hands);
    expect(hands.called).toEqual([]);
    expect(hands.asked[1]?.call.messages.at(-1)).toMatchObject({ failed: true, output: expect.stringMatching(told) });
    expect(hands.asked[1]?.type).toBe("error_recovery");
  });

  test("a failing tool; what the model does about it is a recovery", async () => {
    const hands = new PlayedHands([write("1"), write("2"), { text: "done" }], ({ params }) =>
      params["content"] === "1" ? { ok: false, error: "The disk says no." } : { ok: true, output: "ok" },
    );
    expect(await workOn(WORK, hands)).toBe("done");
    expect(hands.asked.map(({ type }) => type)).toEqual(["tool_invocation", "error_recovery", "implementation_choice"]);
    expect(hands.asked[1]?.call.messages.at(-1)).toMatchObject({ failed: true, output: "The disk says no." });
  });
});

test("an output that is too long is cut and says so", async () => {
  const hands = new PlayedHands([write(), { text: "done" }], () => ({
    ok: true,
    output: { text: "x".repeat(90_000) },
  }));
  await workOn(WORK, hands);
  const output = String((hands.asked[1]?.call.messages.at(-1) as { output?: string } | undefined)?.output);
  expect(output.length).toBeLessThan(81_000);
  expect(output).toMatch(/\[cut here: 80000 of 90011 characters are shown; ask for less at a time\]$/);
});

test("a call that was cut off is not made, and the model hears why and how to go on", async () => {
  const hands = new PlayedHands([
    { calls: [{ tool: "write_file", raw: '{"path": "a", "content": "on' }], finish: "length" },
    { calls: [{ tool: "write_file", params: { path: "a", content: "" } }], finish: "length" },
    { text: "done" },
  ]);
  expect(await workOn(WORK, hands)).toBe("done");
  expect(hands.called).toEqual([]);
  for (const turn of [1, 2])
    expect(hands.asked[turn]?.call.messages.at(-1)).toMatchObject({
      failed: true,
      output: expect.stringMatching(
        /^Your call was cut off after 0 tokens; nothing was done\. Write the file in parts: /,
      ),
    });
});

describe("a command that fails", () => {
  const run = { calls: [{ tool: "write_file", params: { path: "run" } }] };
  const fails: ToolOutcome = { ok: true, output: {}, text: "exit code 1", failure: "The command failed." };

  test("in the same way again and again stops the step", async () => {
    const hands = new PlayedHands(
      () => run,
      () => fails,
    );
    await expect(workOn(WORK, hands)).rejects.toThrow("it keeps failing: The command failed.");
    expect(hands.asked).toHaveLength(3);
    expect(hands.asked[1]?.call.messages.at(-1)).toMatchObject({ output: "exit code 1", failed: false });
  });

  test("is not counted again once files have changed in between", async () => {
    const edit = { calls: [{ tool: "write_file", params: { path: "edit" } }] };
    const turns = [run, edit, run, edit, run, edit, run, { text: "done" }];
    const hands = new PlayedHands(turns, ({ params }) =>
      params["path"] === "run" ? fails : { ok: true, output: {}, changed: true },
    );
    expect(await workOn(WORK, hands)).toBe("done");
  });
});

describe("a model that does not get on", () => {
  test("is stopped after so many calls, and goes on for as many when somebody says so", async () => {
    const endless = new PlayedHands((turn) => write(String(turn)));
    await expect(workOn(WORK, endless)).rejects.toThrow(`is not done after ${CALL_LIMIT} calls`);
    expect(endless.asked).toHaveLength(CALL_LIMIT);
    const longer = new PlayedHands((turn) => (turn <= CALL_LIMIT + 3 ? write(String(turn)) : { text: "done" }));
    expect(await workOn({ ...WORK, gaveUp: 1 }, longer)).toBe("done");
  });

  test("is stopped when the same call fails in the same way three times", async () => {
    const fails = { ok: false, error: "No." } as const;
    const hands = new PlayedHands(
      () => write(),
      () => fails,
    );
    await expect(workOn(WORK, hands)).rejects.toThrow(/keeps calling "write_file".*keeps failing: No\./);
    expect(hands.called).toHaveLength(3);
    // Other parameters are another try.
    const trying = new PlayedHands(
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
    const mends = new PlayedHands([answer, write(), { text: "done" }]);
    expect(await workOn(WORK, mends)).toBe("done");
    expect(mends.asked[1]?.call.messages.at(-1)).toMatchObject({ role: "user" });
    const hands = new PlayedHands(() => answer);
    const error = await workOn(WORK, hands).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StuckError);
    expect(hands.asked).toHaveLength(2);
    expect((error as Error).message).toContain(answer.text?.trim() || "It answered: nothing");
  });

  test("may say that nothing has to be done", async () => {
    expect(await workOn(WORK, new PlayedHands([{ text: "Nothing to do: it is there." }]))).toContain("it is there");
    // Without tools there is nothing but text.
    expect(await workOn({ ...WORK, tools: [] }, new PlayedHands([{ text: "42" }]))).toBe("42");
  });
});

test("of a long conversation it is shown as much as its actor remembers, never a result without its call", async () => {
  const hands = new PlayedHands((turn) => (turn < 8 ? write(String(turn)) : { text: "done" }));
  await workOn({ ...WORK, memory: { maxMessages: 5 } }, hands);
  const last = hands.asked.at(-1)?.call.messages ?? [];
  expect(last.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "tool"]);
  const small = new PlayedHands((turn) => (turn < 4 ? write("x".repeat(400)) : { text: "done" }));
  await workOn({ ...WORK, memory: { maxTokens: 10 } }, small);
  expect(small.asked.at(-1)?.call.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
});
