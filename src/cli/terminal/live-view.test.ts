import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { liveView, type LiveParts, type LiveView } from "./live-view.ts";
import type { RunEvent, SingleRunEvent } from "../../domain/run-event.ts";
import { width } from "./terminal-text.ts";
import { FakeTerminal } from "../testing/fake-terminal.ts";

let now = 0;
beforeEach(() => {
  now = 0;
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

function onTerminal(terminal: FakeTerminal): LiveParts {
  return { stream: terminal, screen: { format: "plain", columns: 60 }, terminal: true, now: () => now };
}

function drawn(terminal: FakeTerminal, cap?: number): LiveView {
  return liveView({ ...onTerminal(terminal), cap });
}

function pass(milliseconds: number): void {
  now += milliseconds;
  vi.advanceTimersByTime(milliseconds);
}

function step(name: string, event: "started" | "done" | "recorded", durationMs = 0): RunEvent {
  const about = { step: name, tool: undefined, description: `Do ${name}` };
  if (event === "done") return { type: "step_done", ...about, durationMs };
  return { type: event === "started" ? "step_started" : "step_recorded", ...about };
}

function hook(event: "started" | "done", durationMs: number): RunEvent {
  return { type: "hook", hook: "pre-commit", resource: "code", event, durationMs };
}

function validation(name: string, event: "passed" | "failed"): RunEvent {
  const facts = { where: "sandbox", recorded: false, runsCommand: true, durationMs: 10 } as const;
  return { type: "validation", validation: name, resource: "code", event, ...facts };
}

const model = { provider: "scripted", model: "demo" };
const about = { key: "1", tool: "edit_file", target: "src/health.ts" };

function answered(name: string, cost: number | undefined): RunEvent {
  const facts = { inputTokens: 12_345, cachedTokens: 0, outputTokens: 67, cost, durationMs: 1_500, toolCalls: 0 };
  return { type: "ask_answered", step: name, key: "1", model, ...facts };
}

test("a terminal shows each step, what it is doing, and what it has cost", () => {
  const terminal = new FakeTerminal();
  const view = drawn(terminal, 1_000_000);
  view.on(step("first", "recorded"));
  view.on(step("second", "started"));
  view.on({ type: "tool_started", step: "second", ...about });
  pass(2_000);
  expect(terminal.shown).toEqual([
    "✓ first  Do first                                    before",
    "▸ second  edit_file src/health.ts                     2.0 s",
    "  2.0 s",
  ]);
  view.on({ type: "tool_ended", step: "second", ...about, durationMs: 3 });
  view.on(answered("second", 250_000));
  view.on(step("second", "done", 2_400));
  pass(500);
  view.end();
  expect(terminal.shown).toEqual([
    "  second  edit_file src/health.ts",
    "✓ first  Do first                                    before",
    "✓ second  Do second                           1 call  2.4 s",
    "  2.5 s · $0.25 of $1.00 ███░░░░░░░ · 12,345 in, 67 out",
  ]);
});

test("a call that is sent again counts the seconds down", () => {
  const terminal = new FakeTerminal();
  const view = drawn(terminal);
  view.on(step("one", "started"));
  const wait = { why: "rate limited", delayMs: 47_000, next: 3, most: 10 } as const;
  view.on({ type: "ask_waits", step: "one", key: "1", ...wait });
  pass(100);
  expect(terminal.shown[0]).toContain("▸ one  rate limited, again in 47 s (3 of 10)");
  pass(40_000);
  expect(terminal.shown[0]).toContain("▸ one  rate limited, again in 7 s (3 of 10)");
  view.on({ type: "text", step: "one", text: "I look." });
  pass(100);
  expect(terminal.shown[0]).toContain("▸ one  I look.");
  view.end();
});

test("the words of an answer, and the calls after it, stay above the drawn lines in their order", () => {
  const terminal = new FakeTerminal(44);
  const view = liveView({ ...onTerminal(terminal), screen: { format: "plain", columns: 44 } });
  view.on(step("one", "started"));
  view.on({ type: "text", step: "one", text: "I look at the endpoint first, and then" });
  view.on({ type: "text", step: "one", text: " at its test.\n\tSo." });
  view.on(answered("one", 1));
  view.on({ type: "tool_ended", step: "one", ...about, durationMs: 3 });
  view.on({ type: "tool_ended", step: "one", ...about, durationMs: 3, error: "The text is not in it." });
  view.on(answered("one", 1));
  view.on({ type: "text", step: "one", text: "1\n2\n3\n4\n5\n6\n7\n8\n9\n10" });
  view.on(answered("one", 1));
  view.end();
  expect(terminal.shown.slice(0, -2)).toEqual([
    "  one  I look at the endpoint first, and",
    "       then at its test.",
    "           So.",
    "  one  edit_file src/health.ts",
    "  one  edit_file src/health.ts: The text is",
    "       not in it.",
    ...["1", "2", "3", "4", "5", "6", "7", "8"].map((line, at) => (at === 0 ? `  one  ${line}` : `       ${line}`)),
    "       … 2 more lines",
  ]);
});

test("text, failures and models that are waited for show in the line of their step", () => {
  const terminal = new FakeTerminal();
  const view = drawn(terminal);
  view.on(step("one", "started"));
  const second = (): string | undefined => {
    pass(100);
    return terminal.shown.find((line) => /^[▸✗] one/.test(line));
  };
  view.on({ type: "context_assembled", step: "one", tokens: 3_412, files: 9 });
  expect(second()).toContain("read 3,412 tokens of code");
  view.on({ type: "ask_started", step: "one", key: "1", model });
  expect(second()).toContain("asking scripted/demo");
  view.on({ type: "text", step: "one", text: "void" });
  view.on({ type: "text_void", step: "one" });
  view.on({ type: "text", step: "one", text: "I will look.\nThen" });
  view.on({ type: "text", step: "one", text: " \u001b[31mI\u001b[0m edit" });
  expect(second()).toContain("▸ one  Then <U+001B>[31mI<U+001B>[0m edit");
  view.on({ type: "ask_failed", step: "one", key: "1", error: "It broke off." });
  expect(second()).toContain("▸ one  It broke off.");
  view.on({ type: "tool_ended", step: "one", ...about, durationMs: 1, error: "no such text" });
  expect(second()).toContain("edit_file failed: no such text");
  view.on({
    type: "step_failed",
    step: "one",
    tool: undefined,
    description: "",
    durationMs: 4_200,
    error: "It gave up.",
  });
  expect(second()).toBe("✗ one  Do one                                         4.2 s");
  view.on(hook("started", 0));
  view.on(validation("tests", "failed"));
  view.on(validation("lint", "passed"));
  view.end();
  expect(terminal.shown.slice(1).map((line) => line.slice(0, 20).trimEnd())).toEqual([
    "✗ one  Do one",
    "▸ pre-commit code",
    "✗ tests code",
    "✓ lint code",
    "  600 ms",
  ]);
});

test("an unknown price is never shown as none", () => {
  const terminal = new FakeTerminal(100);
  const view = drawn(terminal);
  view.on(step("one", "started"));
  view.on(answered("one", undefined));
  view.on(answered("one", 20_000));
  view.end();
  expect(terminal.shown.at(-1)).toBe("  0 ms · $0.02 and more · 24,690 tokens in, 134 out");
});

test("what is said stands above the drawn lines, and the last state stays", () => {
  const terminal = new FakeTerminal();
  const view = drawn(terminal);
  view.on(step("one", "started"));
  pass(100);
  view.say("stopping");
  pass(100);
  view.end();
  view.on(step("two", "started"));
  view.say("the end");
  view.end();
  expect(terminal.shown).toEqual([
    "stopping",
    "▸ one  Do one                                        200 ms",
    "  200 ms",
    "the end",
  ]);
});

test("no line is wider than the terminal, and never more than fit on it: what is under way and comes next is kept", () => {
  const terminal = new FakeTerminal(20, 6);
  const view = drawn(terminal);
  const names = Array.from({ length: 9 }, (_, index) => `step-${index + 1}-with-a-long-name`);
  view.on({ type: "decided", before: false, steps: names.map((name) => ({ step: name, description: `Do ${name}` })) });
  pass(100);
  expect(terminal.shown).toEqual([
    "  … 6 more steps",
    "· step-1-with-a-…",
    "· step-2-with-a-…",
    "· step-3-with-a-…",
    "  100 ms",
  ]);
  for (const name of names.slice(0, 3)) view.on(step(name, "done", 61_000));
  view.on(step(names[3] ?? "", "started"));
  pass(100);
  expect(terminal.shown).toEqual([
    "  … 6 more steps",
    "✓ step…  1 min 01 s",
    "▸ step-4-w…  100 ms",
    "· step-5-with-a-…",
    "  200 ms",
  ]);
  terminal.columns = 200;
  pass(100);
  expect(terminal.shown[2]).toContain("step-4-with-a-long-name  Do step-4-with-a-long-name");
  view.end();
});

test("once the steps are decided on, the strategy is done and the steps wait", () => {
  const terminal = new FakeTerminal();
  const view = drawn(terminal);
  view.on({ type: "ask_started", step: "strategy", key: "1", model });
  pass(1_000);
  view.on({ type: "decided", before: false, steps: [{ step: "one", description: "Do it" }] });
  pass(100);
  view.end();
  expect(terminal.shown.map((line) => line.trimEnd())).toEqual([
    "✓ strategy                                            1.0 s",
    "· one  Do it",
    "  1.1 s",
  ]);
});

test("elsewhere there is one plain line for each thing that happened", () => {
  const terminal = new FakeTerminal(60, 100);
  const view = liveView({ stream: terminal, screen: { format: "plain", columns: undefined }, terminal: false });
  view.on({
    type: "decided",
    before: false,
    steps: ["one", "two"].map((name) => ({ step: name, description: `Do ${name}` })),
  });
  view.on({ type: "decided", before: true, steps: [{ step: "one", description: "Do one" }] });
  view.on(step("one", "recorded"));
  view.on(step("two", "started"));
  view.on({ type: "context_assembled", step: "two", tokens: 1_000_000, files: 3 });
  view.on({ type: "ask_started", step: "two", key: "1", model });
  view.on({ type: "text", step: "two", text: "I will" });
  view.on({ type: "text_void", step: "two" });
  view.on({ type: "ask_failed", step: "two", key: "1", error: "It broke off." });
  view.on(answered("two", 123));
  view.on(answered("two", undefined));
  view.on({ type: "tool_started", step: "two", ...about });
  view.on({ type: "tool_ended", step: "two", ...about, durationMs: 12 });
  view.on({ type: "tool_ended", step: "two", ...about, target: "", durationMs: 12, error: "no\nrepository" });
  view.on(step("two", "done", 125_000));
  view.on({ type: "step_failed", step: "three", tool: undefined, description: "", durationMs: 1, error: "No." });
  view.on(hook("started", 0));
  view.on(hook("done", 59_960));
  view.say("That was it.");
  view.end();
  expect(terminal.shown).toEqual([
    "decided  one  Do one",
    "decided  two  Do two",
    "recorded one  Do one",
    "started  two  Do two",
    "context  two  1,000,000 tokens",
    "failed   two  It broke off.",
    "answered two  12,345 tokens in, 67 out, $0.000123  (1.5 s)",
    "answered two  12,345 tokens in, 67 out, price not known  (1.5 s)",
    "called   two  edit_file src/health.ts  (12 ms)",
    "failed   two  edit_file  (12 ms)  no repository",
    "done     two  Do two  (2 min 05 s)",
    "failed   three  (1 ms)",
    "started  pre-commit  code",
    "done     pre-commit  code  (1 min 00 s)",
    "That was it.",
  ]);
});

test("the checklist of a model stays below its step while it works, as far as there is room", () => {
  const terminal = new FakeTerminal(60, 8);
  const view = drawn(terminal);
  const states = ["done", "done", "doing", "open", "open", "open"] as const;
  const items = states.map((state, index) => ({ text: `point ${index + 1}`, state }));
  const about = { step: "fix", tool: undefined, description: "Fix it" };
  view.on({ type: "step_started", ...about });
  view.on({ type: "checklist", step: "fix", items });
  view.on({ type: "tool_started", step: "fix", key: "1.1", tool: "read_file", target: "a.txt" });
  pass(100);
  expect(terminal.shown.slice(0, -1).map((line) => line.trimEnd())).toEqual([
    expect.stringContaining("read_file a.txt"),
    "    [x] point 2",
    "    [>] point 3",
    "    [ ] point 4",
    "    [ ] point 5",
  ]);
  view.on({ type: "step_done", ...about, durationMs: 5 });
  pass(100);
  expect(terminal.shown).toHaveLength(2);
  view.end();
});

test("of a sentence that is longer than its line, the newest words are seen while the model writes it", () => {
  const terminal = new FakeTerminal();
  const view = drawn(terminal);
  view.on(step("one", "started"));
  const words = Array.from({ length: 900 }, (_, index) => `word${index} `);
  for (const word of words) view.on({ type: "text", step: "one", text: word });
  pass(100);
  expect(terminal.shown[0]).toMatch(/^▸ one {2}….*word898 word899 +100 ms$/);
  view.on({
    type: "text",
    step: "one",
    text: "\nIt is 日本語の長い文章なので切られるところがあるかもしれません。é\u0301",
  });
  pass(100);
  expect(width(terminal.shown[0] ?? "")).toBeLessThan(60);
  expect(terminal.shown[0]).toMatch(/^▸ one {2}….*しれません。é\u0301 +200 ms$/);
  view.on(answered("one", 1));
  pass(100);
  expect(terminal.shown.find((line) => line.startsWith("▸ one"))).toContain("▸ one  Do one");
  view.end();
});

test("under a cap the bar stands before the first answer; what does not fit is left out as a whole", () => {
  const terminal = new FakeTerminal(100);
  const view = liveView({ ...onTerminal(terminal), cap: 1_000_000, spent: 500_000 });
  const last = (columns: number): string | undefined => {
    terminal.narrow(columns);
    pass(100);
    return terminal.shown.at(-1);
  };
  view.on({ type: "ask_started", step: "one", key: "1", model });
  expect(last(100)).toBe("  100 ms · $0.50 of $1.00 █████░░░░░");
  view.on(answered("one", 250_000));
  expect(last(100)).toBe("  200 ms · $0.75 of $1.00 ████████░░ · 12,345 tokens in, 67 out");
  expect(last(60)).toBe("  300 ms · $0.75 of $1.00 ████████░░ · 12,345 in, 67 out");
  expect(last(50)).toBe("  400 ms · $0.75 of $1.00 ████████░░");
  view.end();
});

test("lines that a terminal breaks because it became narrower are drawn over whole", () => {
  const terminal = new FakeTerminal(60, 20);
  const view = drawn(terminal);
  view.on(step("one", "started"));
  view.on(step("two", "started"));
  pass(100);
  view.say("said");
  terminal.narrow(30);
  pass(100);
  expect(terminal.shown).toEqual([
    "said",
    expect.stringMatching(/^▸ one {2}Do one +200 ms$/),
    expect.stringMatching(/^▸ two {2}Do two +200 ms$/),
    "  200 ms",
  ]);
  view.end();
});

test("a log tells a failed question once: by the error at the end, or by a line where the step goes on", () => {
  const terminal = new FakeTerminal(60, 30);
  const view = liveView({ stream: terminal, screen: { format: "plain", columns: undefined }, terminal: false });
  const failed = (name: string): SingleRunEvent => ({
    type: "ask_failed",
    step: name,
    key: "1",
    error: "It broke off.",
  });
  const over = { tool: undefined, description: "", durationMs: 1, error: "It broke off." };
  view.on(failed("one"));
  view.on(failed("two"));
  view.on({ type: "candidate", candidate: 2, plan: "p", event: failed("one") });
  view.on(step("three", "started"));
  view.on({ type: "step_failed", step: "one", ...over });
  view.on(answered("two", 123));
  view.on({ type: "candidate", candidate: 2, plan: "p", event: { type: "step_failed", step: "one", ...over } });
  view.on(failed("three"));
  view.end();
  expect(terminal.shown).toEqual([
    "started  three  Do three",
    "failed   one  (1 ms)",
    "failed   two  It broke off.",
    "answered two  12,345 tokens in, 67 out, $0.000123  (1.5 s)",
    "[2] failed   one  (1 ms)",
  ]);
});
