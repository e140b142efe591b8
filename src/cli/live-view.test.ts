import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { liveView, type LiveView } from "./live-view.ts";
import type { RunEvent } from "../plans/run-events.ts";

const ESCAPE = "\u001b";
const CODE = new RegExp(`^${ESCAPE}\\[(\\d*)([A-Z])$`);
const PARTS = new RegExp(`${ESCAPE}\\[\\d*[A-Z]|\\r|\\n|[^${ESCAPE}\\r\\n]+`, "g");

/** A terminal that understands what the view writes, and fails at anything else. */
class FakeTerminal {
  readonly lines: string[] = [""];
  columns: number;
  rows: number;
  #row = 0;

  constructor(columns = 60, rows = 10) {
    this.columns = columns;
    this.rows = rows;
  }

  write(text: string): void {
    for (const [part] of text.matchAll(PARTS)) {
      const [, amount = "", code = ""] = CODE.exec(part) ?? [];
      if (part === "\n") this.#row += 1;
      else if (code === "A") this.#row -= Number(amount);
      else if (code === "J") this.lines.splice(this.#row);
      else if (part !== "\r" && code === "") this.lines[this.#row] = part;
      else if (!["\r", "K"].includes(code || part)) throw new Error(`unknown code ${JSON.stringify(part)}`);
      while (this.lines.length <= this.#row) this.lines.push("");
    }
  }

  get shown(): string[] {
    return this.lines.slice(0, this.lines.at(-1) === "" ? -1 : undefined);
  }
}

let now = 0;
beforeEach(() => {
  now = 0;
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

function drawn(terminal: FakeTerminal, cap?: number): LiveView {
  return liveView({ stream: terminal, screen: { format: "plain", columns: 60 }, terminal: true, cap, now: () => now });
}

function pass(milliseconds: number): void {
  now += milliseconds;
  vi.advanceTimersByTime(milliseconds);
}

const step = (name: string, event: "started" | "done" | "failed" | "recorded", durationMs = 0): RunEvent => ({
  kind: "step",
  step: name,
  text: `Do ${name}`,
  event,
  durationMs,
});
const answered = (name: string, cost: number | undefined): RunEvent => ({
  kind: "answered",
  step: name,
  inputTokens: 12_345,
  outputTokens: 67,
  cost,
  durationMs: 1_500,
});

test("a terminal shows each step, what it is doing, and what it has cost", () => {
  const terminal = new FakeTerminal();
  const view = drawn(terminal, 1_000_000);
  view.on(step("first", "recorded"));
  view.on(step("second", "started"));
  view.on({ kind: "tool-started", step: "second", tool: "edit_file", target: "src/health.ts" });
  pass(2_000);
  expect(terminal.shown).toEqual([
    "✓ first  Do first                                    before",
    "▸ second  edit_file src/health.ts                     2.0 s",
    "  2.0 s",
  ]);
  view.on({ kind: "tool-ended", step: "second", tool: "edit_file", target: "x", durationMs: 3, error: undefined });
  view.on(answered("second", 250_000));
  view.on(step("second", "done", 2_400));
  pass(500);
  view.end();
  expect(terminal.shown).toEqual([
    "✓ first  Do first                                    before",
    "✓ second  Do second                               1×  2.4 s",
    "  2.5 s · 12,345 tokens in, 67 out · $0.25 of $1.00 ███░░░…",
  ]);
});

test("text, failures and models that are waited for show in the line of their step", () => {
  const terminal = new FakeTerminal();
  const view = drawn(terminal);
  view.on(step("one", "started"));
  const second = (): string | undefined => {
    pass(100);
    return terminal.shown[0];
  };
  view.on({ kind: "context", step: "one", tokens: 3_412 });
  expect(second()).toContain("read 3,412 tokens of code");
  view.on({ kind: "asking", step: "one", model: "scripted/demo" });
  expect(second()).toContain("asking scripted/demo");
  view.on({ kind: "text", step: "one", soFar: "I will look.\nThen \u001b[31mI\u001b[0m edit" });
  expect(second()).toContain("▸ one  Then I edit");
  view.on({ kind: "tool-ended", step: "one", tool: "edit_file", target: "a", durationMs: 1, error: "no such text" });
  expect(second()).toContain("edit_file failed: no such text");
  view.end();
});

test("an unknown price is never shown as none", () => {
  const terminal = new FakeTerminal(100);
  const view = drawn(terminal);
  view.on(step("one", "started"));
  view.on(answered("one", undefined));
  view.on(answered("one", 20_000));
  view.end();
  expect(terminal.shown.at(-1)).toBe("  0 ms · 24,690 tokens in, 134 out · $0.02 and more");
});

test("what is said stands above the drawn lines, and the last state stays", () => {
  const terminal = new FakeTerminal();
  const view = drawn(terminal);
  view.on(step("one", "started"));
  pass(100);
  view.say("stopping cleanly");
  pass(100);
  view.end();
  view.on(step("two", "started"));
  view.say("the end");
  view.end();
  expect(terminal.shown).toEqual([
    "stopping cleanly",
    "▸ one  Do one                                        200 ms",
    "  200 ms",
    "the end",
  ]);
});

test("no line is wider than the terminal, and never more than fit on it: those under way are kept", () => {
  const terminal = new FakeTerminal(20, 6);
  const view = drawn(terminal);
  for (let number = 1; number <= 9; number += 1) {
    view.on(step(`step-${number}-with-a-long-name`, "started"));
    if (number !== 4) view.on(step(`step-${number}-with-a-long-name`, "done", 61_000));
  }
  pass(100);
  expect(terminal.shown).toEqual([
    "  … 6 more steps",
    "▸ step-4-w…  100 ms",
    "✓ step…  1 min 01 s",
    "✓ step…  1 min 01 s",
    "  100 ms",
  ]);
  terminal.columns = 200;
  pass(100);
  expect(terminal.shown[1]).toContain("step-4-with-a-long-name  Do step-4-with-a-long-name");
  view.end();
});

test("elsewhere there is one plain line for each thing that happened", () => {
  const terminal = new FakeTerminal(60, 100);
  const view = liveView({ stream: terminal, screen: { format: "plain", columns: undefined }, terminal: false });
  view.on(step("one", "recorded"));
  view.on(step("two", "started"));
  view.on({ kind: "context", step: "two", tokens: 1_000_000 });
  view.on({ kind: "asking", step: "two", model: "scripted/demo" });
  view.on({ kind: "text", step: "two", soFar: "I will" });
  view.on(answered("two", 123));
  view.on(answered("two", undefined));
  view.on({ kind: "tool-started", step: "two", tool: "edit_file", target: "a.ts" });
  view.on({ kind: "tool-ended", step: "two", tool: "edit_file", target: "a.ts", durationMs: 12, error: undefined });
  view.on({ kind: "tool-ended", step: "two", tool: "git_log", target: "", durationMs: 12, error: "no\nrepository" });
  view.on(step("two", "done", 125_000));
  view.on({ kind: "check", name: "pre-commit", resource: "code", event: "started", durationMs: 0 });
  view.on({ kind: "check", name: "pre-commit", resource: "code", event: "passed", durationMs: 59_960 });
  view.say("That was it.");
  view.end();
  expect(terminal.shown).toEqual([
    "recorded one  Do one",
    "started  two  Do two",
    "context  two  1,000,000 tokens",
    "answered two  12,345 tokens in, 67 out, $0.000123  (1.5 s)",
    "answered two  12,345 tokens in, 67 out, price not known  (1.5 s)",
    "called   two  edit_file a.ts  (12 ms)",
    "failed   two  git_log  (12 ms)  no repository",
    "done     two  Do two  (2 min 05 s)",
    "started  pre-commit  code",
    "passed   pre-commit  code  (1 min 00 s)",
    "That was it.",
  ]);
});
