/**
 * One sandbox in use: the kind of a change is read off the files, and the steps of a wave do not disturb each other.
 */
import { join } from "node:path";
import { rm } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { EXECUTABLE, LINK, REGULAR } from "../../platform/file-state.ts";
import { netChanges } from "../../changes/net-changes.ts";
import { ExecutingPlan, step } from "../testing/executing-plan.ts";
import { fill } from "../testing/trees.ts";
import { openWorkspace } from "./open-workspace.ts";

describe("operations", () => {
  test.each([
    ["create", "new", { content: Buffer.from("x"), mode: REGULAR }],
    ["modify", "a.txt", { content: Buffer.from("x"), mode: EXECUTABLE }],
    ["mode", "a.txt", { content: Buffer.from("one\ntwo\nthree\n"), mode: EXECUTABLE }],
    ["modify", "link", { content: Buffer.from("a.txt"), mode: REGULAR }],
    ["modify", "a.txt", { content: Buffer.from("one"), mode: LINK }],
    ["delete", "a.txt", undefined],
  ] as const)("%s of %s", async (operation, path, after) => {
    await using plan = await ExecutingPlan.start();
    const { call, entries, workspace } = await plan.open();
    // Recorded in the changeset that is the only one open.
    await workspace.change("me", path, () => after);
    expect(await entries()).toMatchObject([{ operation, path, toolInvocation: "me", resource: "api" }]);
    expect(await plan.replayed(await entries())).toEqual(await plan.tree());
    await expect(call("read_file", { path: "none" })).rejects.toThrow('There is no file "none".');
  });

  test("what changes nothing is not recorded", async () => {
    await using plan = await ExecutingPlan.start();
    const { call, entries } = await plan.open();
    await call("write_file", { path: "a.txt", content: "one\ntwo\nthree\n" });
    await call("shell_execute", { command: "touch a.txt; echo x > t; rm t; chmod g+w crlf.txt" });
    expect(await entries()).toEqual([]);
  });
});

describe("what a command left that cannot be recorded", () => {
  test("is put back, and the next call continues from there", async () => {
    await using plan = await ExecutingPlan.start();
    const { call, entries } = await plan.open();
    await call("write_file", { path: "new.txt", content: "new" }, "one");
    await call("delete_file", { path: "crlf.txt" }, "one");
    const before = await plan.tree();
    const bad =
      "echo x >> a.txt; rm new.txt; echo back > crlf.txt; touch 'back\\slash'; mkdir -p src; echo x > src/new";
    await expect(call("shell_execute", { command: bad }, "two")).rejects.toMatchObject({
      code: "contained",
      kept: expect.stringContaining("as they were before"),
    });
    expect(await plan.tree()).toEqual(before);
    await call("shell_execute", { command: "cat a.txt new.txt > all.txt" }, "three");
    expect((await entries()).map(({ path }) => path)).toEqual(["new.txt", "crlf.txt", "all.txt"]);
    expect(await plan.replayed(await entries())).toEqual(await plan.tree());
  });

  test("stops the plan where a recorded change of git's rules uncovered it", async () => {
    await using plan = await ExecutingPlan.start();
    const { call } = await plan.open();
    await call("shell_execute", { command: "truncate -s 101M big.out" }, "one");
    await expect(call("write_file", { path: ".gitignore", content: "ignored/\n" }, "two")).rejects.toMatchObject({
      code: "resource_failed",
      message: expect.stringContaining('"big.out" is a file of 101 MB'),
    });
  });
});

test("a read-only resource is not written by any tool, and ignored paths are refused", async () => {
  await using fixed = await ExecutingPlan.start({ target: { readOnly: true } });
  const before = await fixed.user.fingerprint();
  const { call, entries } = await fixed.open();
  for (const [tool, params] of [
    ["write_file", { path: "x", content: "" }],
    ["delete_file", { path: "a.txt" }],
    ["move_file", { path: "a.txt", to: "b" }],
    ["create_directory", { path: "d" }],
    ["delete_directory", { path: "src" }],
    ["shell_execute", { command: "touch x" }],
  ] as const)
    await expect(call(tool, params), tool).rejects.toMatchObject({ code: "contained", message: /read-only resource/ });
  expect(await call("read_file", { path: "a.txt" })).toMatchObject({ content: "one\ntwo\nthree\n" });
  expect(await entries()).toEqual([]);
  expect(await fixed.tree()).toEqual(fixed.base);
  expect(await fixed.user.fingerprint()).toEqual(before);

  await using plan = await ExecutingPlan.start();
  const open = await plan.open();
  for (const [tool, params] of [
    ["write_file", { path: "ignored/x", content: "" }],
    ["move_file", { path: "a.txt", to: "x.log" }],
    ["create_directory", { path: "ignored/d" }],
  ] as const)
    await expect(open.call(tool, params), tool).rejects.toThrow("is ignored by git");
  // Patterns and git's own magic are plain names here.
  await open.call("write_file", { path: ":(glob)*", content: "odd" });
  await open.call("shell_execute", { command: "echo more >> './:(glob)*'; printf x > ':!a'" });
  expect((await open.entries()).map(({ operation, path }) => `${operation} ${path}`)).toEqual([
    "create :(glob)*",
    "create :!a",
    "modify :(glob)*",
  ]);
});

describe("two steps of one wave", () => {
  test.each([
    ["write_file", { path: "a.txt", content: "b" }],
    ["delete_file", { path: "a.txt" }],
    ["move_file", { path: "a.txt", to: "b" }],
    ["copy_file", { path: "crlf.txt", to: "a.txt" }],
    ["shell_execute", { command: "echo x >> a.txt" }],
  ] as const)("cannot both change a path: %s", async (tool, params) => {
    await using plan = await ExecutingPlan.start();
    const { call, workspace } = await plan.open();
    await call("write_file", { path: "a.txt", content: "first" }, "one");
    await call("write_file", { path: "a.txt", content: "again" }, "one");
    await expect(call(tool, params, "two")).rejects.toMatchObject({
      message: 'The steps "one" and "two" run at the same time and both change "a.txt".',
      detail: { path: "a.txt", steps: ["one", "two"] },
    });
    workspace.beginWave();
    await plan.takeOver();
    const next = await plan.open();
    next.workspace.beginWave();
    await next.call("delete_file", { path: "a.txt" }, "two");
  });
});

test("a move needs something to move and a free place", async () => {
  await using plan = await ExecutingPlan.start();
  const { call, entries } = await plan.open();
  await expect(call("move_file", { path: "none", to: "x" })).rejects.toThrow("There is no file");
  await expect(call("move_file", { path: "a.txt", to: "crlf.txt" })).rejects.toThrow("There is already a file");
  await expect(call("move_file", { path: "a.txt", to: "a.txt" })).rejects.toThrow("There is already a file");
  expect(await entries()).toEqual([]);
  expect(await plan.tree()).toEqual(plan.base);
});

test("restore makes base and recorded changes of anything, also on another machine", async () => {
  await using plan = await ExecutingPlan.start();
  const waves = [
    [
      step("one", "write_file", { path: "n/ew", content: "new" }),
      step("two", "move_file", { path: "script.sh", to: "s" }),
    ],
    [step("three", "shell_execute", { command: "rm a.txt; ln -s n l; mkdir temporary; echo x > temporary/x" })],
    [step("four", "delete_directory", { path: "temporary" })],
  ];
  await plan.run(waves);
  const done = await plan.tree();
  await fill(plan.root, { junk: "junk", "n/ew": "damaged" });
  await plan.takeOver();
  await plan.run(waves);
  expect(await plan.tree()).toEqual(done);
  await rm(plan.directory, { recursive: true });
  await plan.takeOver();
  await plan.run([...waves, [step("five", "shell_execute", { command: "echo more >> n/ew; rm s" })]]);
  expect(await plan.replayed(await plan.recorded())).toEqual(await plan.tree());
});

test("a content that is lost is told, not made up", async () => {
  await using plan = await ExecutingPlan.start();
  await plan.run([[step("one", "write_file", { path: "new", content: "new" })]]);
  const { workspace, call } = await plan.open();
  const changes = netChanges(await plan.recorded());
  const forgetful = openWorkspace({
    sandbox: workspace.sandbox,
    context: undefined as never,
    contents: async () => undefined,
  });
  await expect(forgetful.restore(changes)).rejects.toThrow('The recorded content of "new" is not there.');
  // The sandbox got a file that was never recorded.
  await fill(join(plan.root), { stranger: "x", "crlf.txt": "not what the base holds" });
  await expect(call("shell_execute", { command: "echo y > stranger" })).rejects.toThrow(
    'The content of "stranger" before the command is not known.',
  );
  await expect(call("shell_execute", { command: "echo y > crlf.txt" })).rejects.toThrow(
    'The content of "crlf.txt" before the command is not known.',
  );
});

test("what a call changed is its own until it has ended, also for other calls of the same step", async () => {
  await using plan = await ExecutingPlan.start();
  const { workspace, context } = await plan.open();
  const changeset = await context.startChangeset();
  const write = (by: string, content: string): Promise<void> =>
    context.run(changeset, () =>
      workspace.change(by, "a.txt", (before) => ({ content: Buffer.from(content), mode: before?.mode ?? 0o100644 })),
    );
  await workspace.during("one/1", async () => {
    await write("one/1", "first");
    await expect(workspace.during("one/2", () => write("one/2", "second"))).rejects.toThrow(
      'The steps "one/1" and "one/2" run at the same time and both change "a.txt".',
    );
    await write("one/1", "first again");
  });
  await workspace.during("one/3", () => write("one/3", "third"));
  await expect(workspace.during("two/1", () => write("two/1", "of another step"))).rejects.toThrow('"one" and "two"');
  expect((await plan.tree()).get("a.txt")).toEqual(expect.stringContaining("third"));
});
