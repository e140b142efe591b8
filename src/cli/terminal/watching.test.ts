import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { OutputFormat } from "../../domain/settings/settings.ts";
import { Io } from "./io.ts";
import { capturedIo } from "../testing/captured-io.ts";
import { FakeTerminal } from "../testing/fake-terminal.ts";
import { Watching } from "./watching.ts";

function watched(
  format: OutputFormat,
  isTTY: boolean,
): { watching: Watching; written: { stdout: string; stderr: string } } {
  const io = capturedIo();
  return { watching: new Watching(new Io({ ...io, stdout: { ...io.stdout, isTTY } }), format), written: io.written };
}

test("an answer is written as it arrives, on a terminal", () => {
  const { watching, written } = watched("plain", true);
  watching.tell({ type: "answer_text", text: "One " });
  expect(written.stdout).toBe("One ");
  watching.tell({ type: "answer_text", text: "owner.\r" });
  // Half of a line end waits for the other half.
  expect(written.stdout).toBe("One owner.");
  watching.pause();
  expect(written).toEqual({ stdout: "One owner.<U+000D>\n", stderr: "" });
  watching.end();
});

test("an answer that begins again says so, and each notice stands on a line of its own", () => {
  const { watching, written } = watched("plain", true);
  watching.tell({ type: "answer_text", text: "One ow" });
  watching.tell({ type: "answer_void" });
  expect(written).toEqual({ stdout: "One ow\n", stderr: "the connection broke; the answer begins again\n" });
  watching.tell({ type: "answer_text", text: "One owner." });
  watching.tell({ type: "notice", level: "warning", text: "The answer was cut off at its limit." });
  expect(written.stdout).toBe("One ow\nOne owner.\n");
  expect(written.stderr).toContain("warning: The answer was cut off at its limit.\n");
  watching.end();
});

test.each([
  ["plain", false],
  ["json", true],
  ["yaml", true],
] as const)("pieces are not written in %s, terminal: %s", (format, isTTY) => {
  const { watching, written } = watched(format, isTTY);
  watching.tell({ type: "answer_text", text: "One" });
  watching.tell({ type: "answer_void" });
  watching.tell({ type: "answer_text", text: "One owner." });
  watching.end();
  expect(written).toEqual({ stdout: "", stderr: "" });
});

test.each([
  ["a screen reader's setting", { plain: true }, {}],
  ["a dumb terminal", {}, { TERM: "dumb" }],
] as const)("nothing is drawn over for %s", (_name, how, env) => {
  const io = capturedIo({ env });
  const watching = new Watching(new Io({ ...io, stderr: { ...io.stderr, isTTY: true, columns: 40 } }), "plain", how);
  watching.tell({ type: "run_started", plan: "p", models: [], spent: 0, cap: undefined });
  watching.tell({ type: "step_started", step: "one", tool: undefined, description: "Do one" });
  watching.tell({
    type: "step_done",
    step: "one",
    tool: undefined,
    description: "A longer name of a step",
    durationMs: 5,
  });
  watching.tell({ type: "progress", doing: "reading files", done: 1, total: 2 });
  watching.tell({ type: "notice", level: "info", text: "A sentence that is too long for one line of this terminal." });
  watching.end();
  expect(io.written.stderr).toBe(
    "started  one  Do one\ndone     one  A longer name of a step\n         (5 ms)\nA sentence that is too long for one line\n  of this terminal.\n",
  );
});

test("the model of a run is named once, also when the run begins again after a question", () => {
  const { watching, written } = watched("plain", false);
  const started = { type: "run_started", plan: "p", models: ["ollama/qwen3"], spent: 0, cap: undefined } as const;
  watching.tell(started);
  watching.pause();
  watching.tell(started);
  watching.end();
  expect(written.stderr.match(/model ollama\/qwen3/g)).toHaveLength(1);
});

describe("a run on a terminal", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function drawn(): { watching: Watching; terminal: FakeTerminal } {
    const terminal = new FakeTerminal(60, 20);
    const io = capturedIo();
    const stderr = Object.assign(terminal, { isTTY: true });
    return { watching: new Watching(new Io({ ...io, stderr }), "plain"), terminal };
  }

  const started = { type: "run_started", models: ["ollama/qwen3"], spent: 0, cap: undefined } as const;
  const strategy = { step: "strategy", key: "1", model: { provider: "ollama", model: "qwen3" } } as const;
  const step = { step: "one", tool: undefined, description: "Do one" } as const;

  function seen(terminal: FakeTerminal): string[] {
    return terminal.shown.map((line) => line.replace(/[ \d]+ m?s$/, ""));
  }

  test("that goes on from its strategy without a question is one view, and nothing is drawn after its end", () => {
    const { watching, terminal } = drawn();
    watching.tell({ ...started, plan: "p" });
    watching.tell({ type: "ask_started", ...strategy });
    watching.tell({ type: "decided", before: false, steps: [step] });
    vi.advanceTimersByTime(300);
    watching.tell({ ...started, plan: "p" });
    watching.tell({ type: "decided", before: true, steps: [step] });
    watching.tell({ type: "step_started", ...step });
    vi.advanceTimersByTime(300);
    watching.tell({ type: "step_done", ...step, durationMs: 5 });
    watching.end();
    const last = [
      "model ollama/qwen3: no limit of cost (--budget, or",
      "  budget.per-plan)",
      "✓ strategy",
      "✓ one  Do one",
    ];
    expect(seen(terminal).slice(0, -1)).toEqual(last);
    vi.advanceTimersByTime(1_000);
    expect(seen(terminal).slice(0, -1)).toEqual(last);
  });

  test("of another plan begins a view of its own below the finished one", () => {
    const { watching, terminal } = drawn();
    for (const plan of ["p", "q"]) {
      watching.tell({ ...started, models: [], plan });
      watching.tell({ type: "step_started", ...step, step: plan });
      vi.advanceTimersByTime(200);
    }
    watching.end();
    vi.advanceTimersByTime(1_000);
    expect(seen(terminal)).toEqual(["▸ p  Do one", "", "▸ q  Do one", ""]);
  });
});
