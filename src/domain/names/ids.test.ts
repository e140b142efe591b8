import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isId, monotonicIds } from "./ids.ts";

describe("an id", () => {
  test("is 26 characters of Crockford's base 32: the time, then randomness", () => {
    const ids = monotonicIds(
      () => 1_469_918_176_385,
      (bytes) => void bytes.fill(0),
    );
    expect(ids()).toBe(`01ARYZ6S41${"0".repeat(16)}`);
    expect(ids()).toBe(`01ARYZ6S41${"0".repeat(15)}1`);
  });

  test("has 80 bits of randomness, of which the top one is clear so that counting up cannot overflow", () => {
    const ids = monotonicIds(
      () => 0,
      (bytes) => void bytes.fill(0xff),
    );
    expect(ids()).toBe(`0000000000F${"Z".repeat(15)}`);
    expect(ids()).toBe(`0000000000G${"0".repeat(15)}`);
  });

  test("made with the defaults is one, and 20,000 of them are 20,000 different ones in order", () => {
    const next = monotonicIds();
    const ids = Array.from({ length: 20_000 }, next);
    expect(ids.every(isId)).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...ids].sort()).toEqual(ids);
  });

  test("two generators do not make the same ones", () => {
    const one = monotonicIds();
    const other = monotonicIds();
    const ids = Array.from({ length: 5_000 }, () => [one(), other()]).flat();
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("keeps its order with any clock: forwards, backwards, standing still", () => {
    const steps = fc.array(fc.integer({ min: -100_000, max: 100_000 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 0, max: 2 ** 47 }), (changes, start) => {
        let now = start;
        const next = monotonicIds(() => Math.max(0, now));
        const ids = changes.map((change) => {
          now += change;
          return next();
        });
        expect(ids.every(isId)).toBe(true);
        expect(new Set(ids).size).toBe(ids.length);
        expect([...ids].sort()).toEqual(ids);
      }),
    );
  });

  test("is the same again from the same clock and randomness", () => {
    const make = (): string[] => {
      let seed = 7;
      let now = 1_000;
      const next = monotonicIds(
        () => (now += seed % 2),
        (bytes) => {
          for (const index of bytes.keys()) bytes[index] = seed = (seed * 31 + 11) % 256;
        },
      );
      return Array.from({ length: 100 }, next);
    };
    expect(make()).toEqual(make());
  });

  test("a clock that tells fractions is cut to whole milliseconds", () => {
    const zero = (bytes: Uint8Array): void => void bytes.fill(0);
    expect(monotonicIds(() => 5.9, zero)()).toBe(monotonicIds(() => 5, zero)());
  });

  test("a clock that returns an invalid time still gives valid ids", () => {
    const bad: { time: number; ids: string[] }[] = [];
    for (const time of [-1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 48]) {
      const next = monotonicIds(() => time);
      let ids: string[] = [];
      try {
        ids = [next(), next()];
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
      if (!ids.every(isId)) bad.push({ time, ids });
    }
    expect(bad).toEqual([]);
  });
});

describe("isId", () => {
  const good = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

  test("takes exactly the form that is made", () => {
    expect(isId(good)).toBe(true);
    expect(isId("7ZZZZZZZZZZZZZZZZZZZZZZZZZ")).toBe(true);
  });

  test.each([
    "",
    good.toLowerCase(),
    good.slice(1),
    `${good}0`,
    `${good}\n`,
    ` ${good}`,
    `8${good.slice(1)}`,
    good.replace("K", "I"),
    good.replace("K", "L"),
    good.replace("K", "O"),
    good.replace("K", "U"),
    good.replace("K", "Ｋ"),
  ])("refuses %j", (text) => {
    expect(isId(text)).toBe(false);
  });
});
