import { expect, test } from "vitest";
import { createRuntime } from "./runtime.ts";

test("a byte written behind the end of the stack is noticed", async () => {
  const runtime = await createRuntime();
  expect(runtime.hasOverrunStack()).toBe(false);
  const memory = Buffer.from(runtime.memory());
  const guard = Buffer.alloc(65_536, 0xa5);
  const end = memory.indexOf(guard) + guard.length;
  expect(end).toBeGreaterThan(guard.length);
  memory[end - 1_000] = 0;
  expect(runtime.hasOverrunStack()).toBe(true);
});
