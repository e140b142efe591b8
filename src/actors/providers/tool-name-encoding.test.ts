import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TOOL_NAMES } from "../../domain/names/tool-names.ts";
import { decodeToolName, encodeToolName, ToolNames } from "./tool-name-encoding.ts";

describe("tool names for providers", () => {
  test.each([
    ["local/read_file", "local_S_read_file"],
    ["server:ns/tool-name", "server_C_ns_S_tool-name"],
    ["a_S_b", "a_U_S_b"],
    ["9lives", "_X39_lives"],
    ["naïve tool", "na_Xef_ve_X20_tool"],
  ])("%s is written %s", (name, encoded) => {
    expect(encodeToolName(name)).toBe(encoded);
    expect(decodeToolName(encoded)).toBe(name);
  });

  test("those of our own tools stay as they are", () => {
    expect(TOOL_NAMES.map(encodeToolName)).toEqual(TOOL_NAMES);
  });

  /** Made of what the encoding itself is made of, to find names that could be taken for another's. */
  const tricky = fc.string({
    unit: fc.constantFrom("_", "S", "C", "U", "X", "/", ":", "a", "2", "-", "é", "😀"),
    minLength: 1,
    maxLength: 40,
  });
  const anything = fc.string({ unit: "grapheme", minLength: 1, maxLength: 300 }).filter((name) => name.isWellFormed());

  test("every name comes back as it was, and is one that providers take", () => {
    fc.assert(
      fc.property(fc.oneof(tricky, anything), (name) => {
        expect(decodeToolName(encodeToolName(name))).toBe(name);
        const names = new ToolNames();
        const encoded = names.encode(name);
        expect(encoded).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
        expect(names.decode(encoded)).toBe(name);
      }),
      { numRuns: 2_000 },
    );
  });

  test("two names are never written alike", () => {
    fc.assert(
      fc.property(fc.uniqueArray(tricky, { minLength: 2, maxLength: 30 }), (all) => {
        const names = new ToolNames();
        expect(new Set(all.map((name) => names.encode(name))).size).toBe(all.length);
      }),
    );
    const long = "n".repeat(100);
    const names = new ToolNames();
    expect(names.encode(`${long}1`)).not.toBe(names.encode(`${long}2`));
  });

  test("what a model makes up comes through", () => {
    for (const name of ["read_file", "_S", "_Xzz_", "_X110000_", ""]) expect(new ToolNames().decode(name)).toBe(name);
  });
});
