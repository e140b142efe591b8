import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nearest } from "./suggest.ts";

describe("the nearest word", () => {
  test.each([
    ["descripton", ["description", "definitionOfDone"], "description"],
    ["NAME", ["name"], "name"],
    ["nmae", ["name", "type"], "name"],
    ["supervisd", ["manual", "supervised"], "supervised"],
    ["ab", ["ba"], "ba"],
    ["x", ["y"], "y"],
    ["target", ["targets", "target-2"], "targets"],
    ["readonly", ["readOnly"], "readOnly"],
  ])("to %s in %j is %s", (word, known, expected) => {
    expect(nearest(word, known)).toBe(expected);
  });

  test.each([
    ["zebra", ["name", "type"]],
    ["name", []],
    ["", ["name"]],
    ["abcdef", ["uvwxyz"]],
    ["x".repeat(65), ["x".repeat(65)]],
    ["x".repeat(1_000_000), ["name"]],
    ["name", ["x".repeat(1_000_000)]],
    ["abc", ["abcdefghijkl"]],
  ])("to %.20s is nothing when nothing is near", (word, known) => {
    expect(nearest(word, known)).toBeUndefined();
  });

  test("is the first of equals, and takes anything that can be iterated", () => {
    expect(nearest("cat", new Set(["bat", "hat"]))).toBe("bat");
    expect(nearest("local/shp", ["local/shop"])).toBe("local/shop");
    // The namespace makes no stranger a neighbor.
    expect(nearest("local/nope", ["local/shop"])).toBeUndefined();
  });

  test("is the word itself when it is known, and one edit away from any longer word that is not", () => {
    const word = fc.stringMatching(/^[a-z]{4,20}$/);
    fc.assert(
      fc.property(word, fc.nat(), fc.constantFrom("drop", "double", "swap"), (known, at, mistake) => {
        expect(nearest(known, ["zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz", known])).toBe(known);
        const i = at % (known.length - 1);
        const [a = "", b = ""] = [known[i], known[i + 1]];
        const middle = { drop: b, double: a + a + b, swap: b + a }[mistake];
        expect(nearest(known.slice(0, i) + middle + known.slice(i + 2), [known])).toBe(known);
      }),
    );
  });
});
