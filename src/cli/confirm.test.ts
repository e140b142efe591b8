import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { UsageError } from "../domain/errors.ts";
import { confirmed, declined } from "./confirm.ts";

function terminal(answer: string) {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = Object.assign(new PassThrough(), { isTTY: true });
  input.end(answer);
  return { input, output };
}

test.each([
  ["y\n", true],
  ["YES\n", true],
  ["n\n", false],
  ["\n", false],
  ["yesterday\n", false],
])("the answer %j means %s", async (answer, expected) => {
  expect(await confirmed("Delete it?", false, terminal(answer))).toBe(expected);
});

test("--yes is not asked, and without a terminal it is needed", async () => {
  const deaf = { input: new PassThrough(), output: new PassThrough() };
  expect(await confirmed("Delete it?", true, deaf)).toBe(true);
  await expect(confirmed("Delete it?", false, deaf)).rejects.toThrow(UsageError);
});

test("a no is told, and is no failure", () => {
  expect(declined("removed")).toMatchObject({
    data: { removed: false },
    messages: [{ level: "warning", text: "Nothing was removed." }],
    status: "warn",
  });
});
