import { expect, test } from "vitest";
import { Unpacked } from "./unpacked.ts";

test("makes each value once, and forgets what was not asked for the longest", () => {
  const made: string[] = [];
  const unpacked = new Unpacked<string>(30);
  const ask = (key: string): string =>
    unpacked.get(key, () => {
      made.push(key);
      return { value: `value of ${key}`, size: 10 };
    });
  for (const key of ["a", "b", "c", "a", "d", "a", "c", "b"]) expect(ask(key)).toBe(`value of ${key}`);
  expect(made).toEqual(["a", "b", "c", "d", "b"]);
});

test("gives what is too large to remember, and remembers it not", () => {
  let made = 0;
  const unpacked = new Unpacked<number>(5);
  const ask = (): number => unpacked.get("large", () => ({ value: ++made, size: 6 }));
  expect([ask(), ask()]).toEqual([1, 2]);
});
