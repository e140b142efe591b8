import { PassThrough } from "node:stream";
import { expect, test, vi } from "vitest";
import { UsageError } from "../../domain/errors/errors.ts";
import { answerTo, confirmed, declined } from "./confirm.ts";
import { typedTerminal } from "../testing/typed-terminal.ts";

test.each([
  ["y\n", true],
  ["YES\n", true],
  ["n\n", false],
  ["\n", false],
  ["yesterday\n", false],
  ["\u0003", false],
  ["\u0004", false],
  ["y\u0003", false],
])("the answer %j means %s", async (answer, expected) => {
  expect(await confirmed("Delete it?", false, typedTerminal(answer))).toBe(expected);
});

test.each(["y\n", "yes", "y\n".repeat(50_000)])(
  "what was typed before the question answers nothing: %j",
  async (before) => {
    expect(await confirmed("Land it?", false, typedTerminal("\n", before))).toBe(false);
    expect(await confirmed("Land it?", false, typedTerminal("y\n", before))).toBe(true);
    expect(await confirmed("Land it?", false, typedTerminal("n\n", before))).toBe(false);
  },
);

test("Ctrl-C just before the question means no, and so does an input that has ended or never rests", async () => {
  const early = typedTerminal("y\n", "\u0003");
  expect(await confirmed("Land it?", false, early)).toBe(false);
  expect(early.seen()).toBe("");

  const gone = typedTerminal("y\n");
  gone.input.emit("end");
  Object.assign(gone.input, { readable: false });
  expect(await confirmed("Land it?", false, gone)).toBe(false);

  const flooded = typedTerminal("y\n");
  const flood = setInterval(() => flooded.input.emit("data", "y\n"), 1);
  expect(await confirmed("Land it?", false, flooded).finally(() => clearInterval(flood))).toBe(false);
  expect(flooded.seen()).toBe("");
});

test("what is asked cannot draw on the screen, and a refused question ends its line", async () => {
  const terminal = typedTerminal("\u0003");
  await answerTo("Take \u001b]0;x\u0007 in \u202e\r? ", terminal);
  expect(terminal.seen()).toContain("Take <U+001B>]0;x<U+0007> in <U+202E><U+000D>? ");
  await vi.waitFor(() => expect(terminal.seen()).toMatch(/\n$/));
});

test("--yes is not asked, and without a terminal it is needed", async () => {
  const deaf = { input: new PassThrough(), output: new PassThrough() };
  expect(await confirmed("Delete it?", true, deaf)).toBe(true);
  await expect(confirmed("Delete it?", false, deaf)).rejects.toThrow(UsageError);
});

test("a no is reported, and is not a failure", () => {
  expect(declined("removed")).toMatchObject({
    data: { removed: false },
    messages: [{ level: "warning", text: "Nothing was removed." }],
    status: "warn",
  });
});
