import { expect, test } from "vitest";
import type { OutputFormat } from "../../domain/settings/settings.ts";
import { Io } from "./io.ts";
import { capturedIo } from "../testing/captured-io.ts";
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
  watching.tell({ type: "progress", doing: "reading files", done: 1, total: 2 });
  watching.tell({ type: "notice", level: "info", text: "A sentence that is too long for one line of this terminal." });
  watching.end();
  expect(io.written.stderr).toBe(
    "started  one  Do one\nA sentence that is too long for one line\n  of this terminal.\n",
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
