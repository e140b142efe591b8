import { expect, test } from "vitest";
import { SizedLru } from "./lru.ts";

test("makes each value once, and drops the one that was unused the longest", () => {
  const made: string[] = [];
  const unpacked = new SizedLru<string>(30);
  const ask = (key: string): string =>
    unpacked.get(key, () => {
      made.push(key);
      return { value: `value of ${key}`, size: 10 };
    });
  for (const key of ["a", "b", "c", "a", "d", "a", "c", "b"]) expect(ask(key)).toBe(`value of ${key}`);
  expect(made).toEqual(["a", "b", "c", "d", "b"]);
});

test("returns a value that is too large for it, and does not store it", () => {
  let made = 0;
  const unpacked = new SizedLru<number>(5);
  const ask = (): number => unpacked.get("large", () => ({ value: ++made, size: 6 }));
  expect([ask(), ask()]).toEqual([1, 2]);
});
