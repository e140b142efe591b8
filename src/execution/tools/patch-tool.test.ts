/** Patches: every kind of change, hunks that are slightly wrong, and nothing at all when one does not apply. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { ExecutingPlan, type OpenWorkspace } from "../testing/executing-plan.ts";

let plan: ExecutingPlan;
let open: OpenWorkspace;

beforeEach(async () => {
  plan = await ExecutingPlan.start();
  open = await plan.open();
});
afterEach(() => plan[Symbol.asyncDispose]());

const patch = async (...lines: string[]): Promise<string> => {
  const input = ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
  const outcome = await open.ask("apply_patch", { input });
  return outcome.ok ? (outcome.text ?? "") : outcome.error;
};
const write = (path: string, content: string): Promise<unknown> => open.call("write_file", { path, content });
const text = async (path: string): Promise<string | undefined> => {
  const state = await open.workspace.read(path);
  return state === undefined ? undefined : Buffer.from(state.content).toString("utf8");
};

test("adds, updates, moves and deletes files in one call", async () => {
  await write("p/a.py", "def f():\n    return 1\n\ndef g():\n    return 1\n");
  await write("p/old.txt", "one\ntwo\n");
  await write("p/gone.txt", "x\n");
  const told = await patch(
    "*** Add File: p/new.txt",
    "+first",
    "+",
    "*** Update File: ./p/a.py",
    "@@ def g():",
    "-    return 1",
    "+    return 2",
    "*** Update File: p/old.txt",
    "*** Move to: p/moved.txt",
    "@@",
    " one",
    "-two",
    "+2",
    "*** Delete File: p/gone.txt",
  );
  expect(told).toContain("Updated p/a.py. It is now:\n2→    return 1\n3→\n4→def g():\n5→    return 2");
  expect(told).toContain("Moved p/old.txt to p/moved.txt");
  expect(await text("p/new.txt")).toBe("first\n\n");
  expect(await text("p/a.py")).toBe("def f():\n    return 1\n\ndef g():\n    return 2\n");
  expect([await text("p/moved.txt"), await text("p/old.txt")]).toEqual(["one\n2\n", undefined]);
  expect(await text("p/gone.txt")).toBeUndefined();
  expect(await plan.replayed(await open.entries())).toEqual(await plan.tree());
});

test("a hunk is found as an edit is, in whole lines, in order, and at the end of the file", async () => {
  await write("h.txt", "  foo \r\nfoobar\r\nbar\r\nend\r\nbar\r\nend");
  expect(
    await patch("*** Update File: h.txt", "-foo", "+FOO", " foobar", "@@", " bar", "-end", "*** End of File"),
  ).toContain("Updated h.txt");
  expect(await text("h.txt")).toBe("  FOO\r\nfoobar\r\nbar\r\nend\r\nbar");
  expect(await patch("*** Update File: h.txt", "@@ foobar", "+new")).toContain("Updated");
  expect(await text("h.txt")).toContain("foobar\r\nnew\r\nbar");
});

test("one hunk that does not apply changes nothing, and the nearest places are shown", async () => {
  await write("x.ts", "const a = 1;\nconst b = 2;\n");
  await write("y.ts", "one\nsame\ntwo\nsame\n");
  const missing = await patch("*** Add File: z.ts", "+z", "*** Update File: x.ts", "-const b = 3;", "+const b = 4;");
  expect(missing).toContain("2→const b = 2;\n   yours: const b = 3;");
  expect(await text("z.ts")).toBeUndefined();
  expect(await patch("*** Update File: y.ts", "-same", "+other")).toContain("2 times, at lines 2, 4");
  expect(await patch("*** Update File: y.ts", "@@ nowhere", "-same")).toContain('has no line "nowhere"');
  expect(await patch("*** Add File: x.ts", "+x")).toContain("There is already a file");
  expect(await patch("*** Update File: nono.ts", "-x")).toContain("There is no file");
  expect(await patch("*** Delete File: x.ts", "*** Update File: x.ts", "-const a = 1;")).toContain("twice");
  expect(await patch("what is this")).toContain("belongs to no file");
  expect(await patch("*** Update File: x.ts", "const a = 1;")).toContain("begins with none of");
  expect(await text("x.ts")).toBe("const a = 1;\nconst b = 2;\n");
});
