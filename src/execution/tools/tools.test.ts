/** Each tool: what it takes, what it gives, what it refuses. */
import { rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AgentsError, ValidationError, type JsonObject } from "../../index.ts";
import { ripgrepProgram } from "./ripgrep.ts";
import { foundLines } from "./search-tool.ts";
import { searchedPlace } from "./searched-place.ts";
import { callTool } from "./tool-pipeline.ts";
import { BUILT_IN_TOOLS, ONLY_BUILT_IN } from "./tool-set.ts";
import { pngOf } from "../../testing/images.ts";
import { ExecutingPlan, type OpenWorkspace } from "../testing/executing-plan.ts";
import { fill } from "../testing/trees.ts";

let plan: ExecutingPlan;
let open: OpenWorkspace;
let call: OpenWorkspace["call"];

beforeAll(async () => {
  plan = await ExecutingPlan.start();
  open = await plan.open();
  call = open.call;
});
afterAll(() => plan[Symbol.asyncDispose]());

const bytes = async (path: string): Promise<Buffer> => Buffer.from((await open.workspace.read(path))?.content ?? []);

describe("reading", () => {
  test("gives the text as it is, with its mark and line ends", async () => {
    expect(await call("read_file", { path: "bom.txt" })).toEqual({ path: "bom.txt", content: "\uFEFFone\ntwo\n" });
    expect(await call("read_file", { path: "crlf.txt" })).toMatchObject({ content: "one\r\ntwo\r\n" });
    expect(await call("read_file", { path: "empty.txt" })).toMatchObject({ content: "" });
  });

  test("of a symbolic link it tells where that points, and never what is there", async () => {
    expect(await call("read_file", { path: "link" })).toEqual({ path: "link", kind: "link", points_to: "a.txt" });
    expect(await call("read_file", { path: "link-out" })).toMatchObject({ kind: "link", points_to: "/etc" });
  });

  test("refuses a file that is not text, too large, a directory or not there", async () => {
    await expect(call("read_file", { path: "latin1.txt" })).rejects.toThrow('"latin1.txt" is not UTF-8 text.');
    await expect(call("read_file", { path: "src" })).rejects.toThrow("is a directory");
    await expect(call("read_file", { path: "none" })).rejects.toThrow('There is no file "none".');
    const big = join(plan.root, "big.log");
    await writeFile(big, "");
    await truncate(big, 10 * 1024 * 1024 + 1);
    await expect(call("read_file", { path: "big.log" })).rejects.toThrow("is larger than 10 MiB");
  });

  test("get_file_info tells files, links and modes apart", async () => {
    expect(await call("get_file_info", { path: "script.sh" })).toMatchObject({
      kind: "file",
      executable: true,
      size: 18,
    });
    expect(await call("get_file_info", { path: "link" })).toMatchObject({ kind: "link", executable: false, size: 5 });
  });

  test("list_directory lists one directory, without .git", async () => {
    expect(await call("list_directory", { path: "src" })).toEqual([
      { name: "deep", kind: "directory" },
      { name: "z.ts", kind: "file" },
    ]);
    const root = (await call("list_directory", {})) as { name: string; kind: string }[];
    expect(root).toContainEqual({ name: "link", kind: "link" });
    expect(root.map(({ name }) => name)).not.toContain(".git");
    expect(await call("list_directory", { path: "." })).toEqual(root);
    for (const path of ["a.txt", "none", "link-out"])
      await expect(call("list_directory", { path })).rejects.toThrow("is not a directory");
  });

  test("search_files finds lines, within a path and up to a limit", async () => {
    expect(await call("search_files", { pattern: "const [xy]", path: "src/deep" })).toEqual([
      { path: "src/deep/er/x.ts", line: 1, text: "export const x = 1;" },
      { path: "src/deep/y.ts", line: 1, text: "export const y = 1;" },
    ]);
    expect(await call("search_files", { pattern: "z = 1", path: "src/z.ts" })).toHaveLength(1);
    expect(await call("search_files", { pattern: "o", limit: 2 })).toHaveLength(2);
    expect(await call("search_files", { pattern: "nowhere at all" })).toEqual([]);
    expect(await call("search_files", { pattern: "z = 1", path: "." })).toHaveLength(1);
    await expect(call("search_files", { pattern: "(" })).rejects.toMatchObject({
      code: "tool_failed",
      message: expect.stringContaining('The pattern "(" is not valid: '),
    });
  });

  test("search_files takes globs, cases, context and modes, and refuses a place that is not there", async () => {
    expect(await call("search_files", { pattern: "(?i)CONST X", glob: "*.ts" })).toMatchObject([{ line: 1 }]);
    expect(await call("search_files", { pattern: "CONST X", ignore_case: true, mode: "files" })).toEqual([
      { path: "src/deep/er/x.ts" },
    ]);
    expect(await call("search_files", { pattern: "o", path: "./crlf.txt", mode: "count" })).toEqual([
      { path: "crlf.txt", count: 2 },
    ]);
    expect(await call("search_files", { pattern: "two$", path: "crlf.txt", context: 1 })).toEqual([
      { path: "crlf.txt", line: 1, text: "one", beside: true },
      { path: "crlf.txt", line: 2, text: "two" },
    ]);
    expect(await call("search_files", { pattern: '\\"x', glob: "**/deep/**" })).toEqual([]);
    for (const path of ["link", "link-out"])
      await expect(call("search_files", { pattern: "o", path })).rejects.toThrow("is a symbolic link");
    await expect(call("find_files", { glob: "*", path: "link-out" })).rejects.toThrow("is a symbolic link");
    await expect(call("search_files", { pattern: "x", path: "scr" })).rejects.toThrow('Did you mean "src"?');
    await expect(call("search_files", { pattern: "x", path: "src/*.ts" })).rejects.toThrow("There is no file");
  });

  test("files that git ignores are found only where they are named", async () => {
    await writeFile(join(plan.root, "hidden.log"), "needle\n");
    expect(await call("search_files", { pattern: "needle" })).toEqual([]);
    expect(await call("search_files", { pattern: "needle", glob: "*.log" })).toEqual([]);
    expect(await call("search_files", { pattern: "needle", path: "hidden.log" })).toHaveLength(1);
    expect(await call("find_files", { glob: "*.log" })).toEqual([]);
  });

  test("without ripgrep the same lines are found by a scan", async () => {
    const search = {
      pattern: "(?i)CONST [XYZ]",
      glob: "*.ts",
      ignore_case: false,
      context: 0,
      mode: "lines",
      limit: 9,
    } as const;
    const { signal } = new AbortController();
    for (const path of [".", "src/deep", "src/z.ts"]) {
      const place = await searchedPlace(open.workspace, path);
      const scanned = await foundLines(open.workspace, place, search, signal, undefined);
      expect(scanned).toEqual(await foundLines(open.workspace, place, search, signal, ripgrepProgram()));
      expect(scanned.length).toBeGreaterThan(0);
    }
    const place = await searchedPlace(open.workspace, ".");
    await expect(foundLines(open.workspace, place, { ...search, pattern: "(" }, signal, undefined)).rejects.toThrow(
      'The pattern "(" is not valid.',
    );
  });

  test("find_files lists files by a glob, relative to a directory", async () => {
    expect(await call("find_files", { glob: "*.ts" })).toEqual(["src/deep/er/x.ts", "src/deep/y.ts", "src/z.ts"]);
    expect(await call("find_files", { glob: "er/*.ts", path: "src/deep/" })).toEqual(["src/deep/er/x.ts"]);
    expect(await call("find_files", { glob: "src/**/y.*", limit: 1 })).toEqual(["src/deep/y.ts"]);
    await expect(call("find_files", { glob: "*", path: "nowhere" })).rejects.toThrow("There is no file");
  });

  test("paths are understood however they are written", async () => {
    for (const path of ["./a.txt", "a.txt/", ".//a.txt", join(plan.root, "a.txt"), join(plan.user.path, "a.txt")])
      expect(await call("read_file", { path })).toMatchObject({ path: "a.txt" });
    expect(await call("list_directory", { path: `${plan.root}/` })).toEqual(await call("list_directory", {}));
    await expect(call("read_file", { path: "/src/z.ts" })).rejects.toThrow(
      'The path "/src/z.ts" is outside: paths are relative to the resource; for a file of this resource write "src/z.ts".',
    );
    await expect(call("read_file", { path: "src/../../x" })).rejects.toThrow('contains ".."');
  });
});

describe("a model reads", () => {
  const told = async (tool: string, params: JsonObject): Promise<string> => {
    const outcome = await open.ask(tool, params);
    return outcome.ok ? (outcome.text ?? "") : outcome.error;
  };

  test("lines with their numbers, a part at a time", async () => {
    const lines = Array.from({ length: 4_000 }, (_, index) => `line ${index + 1}`);
    await call("write_file", { path: "r/long.txt", content: `${lines.join("\n")}\n` });
    const first = await told("read_file", { filePath: "r/long.txt" });
    expect(first).toMatch(/^1→line 1\n2→line 2\n/);
    expect(first).toMatch(/2000→line 2000\n\[lines 1–2000 of 4000; continue with offset 2001\]$/);
    expect(await told("read_file", { path: "r/long.txt", offset: 3_999 })).toBe(
      "3999→line 3999\n4000→line 4000\n[lines 3999–4000 of 4000]",
    );
    expect(await told("read_file", { path: "r/long.txt", offset: 4_001 })).toContain("has only 4000 lines");
    expect(await told("read_file", { path: "crlf.txt" })).toBe("[its lines end in CR LF]\n1→one\n2→two");
    expect(await told("read_file", { path: "empty.txt" })).toBe("(the file is empty)");
    await call("write_file", { path: "r/wide.txt", content: `${"x".repeat(60_000)}\n`.repeat(30) });
    expect(await told("read_file", { path: "r/wide.txt" })).toMatch(/… \(60000 characters\)\n\[lines 1–24 of 30; /);
  });

  test("directories, links, images, and what a missing path probably meant", async () => {
    expect(await told("read_file", { path: "src" })).toBe("deep/\nz.ts");
    expect(await told("read_file", { path: "link" })).toBe("link is a symbolic link to a.txt");
    await writeFile(join(plan.root, "p.png"), pngOf(3, 2));
    expect(await told("read_file", { path: "p.png" })).toContain("p.png is an image (image/png, 3×2 pixels, ");
    expect(await told("read_file", { path: "lib/z.ts" })).toContain('Did you mean "src/z.ts"?');
    expect(await told("read_file", { path: ".agent/out/none" })).toContain("There is no file");
  });

  test("results grouped by file, and a note about what a tool does not know", async () => {
    expect(await told("search_files", { query: "const [xz]", path: "src/", type: "ts" })).toBe(
      "src/deep/er/x.ts\n  1: export const x = 1;\n\nsrc/z.ts\n  1: export const z = 1;" +
        '\n[search_files has no parameter "type"; left out. It takes: pattern, path?, glob?, ignore_case?, context?, mode?, limit?]',
    );
    expect(await told("search_files", { pattern: "nowhere at all" })).toBe("Nothing matches.");
    expect(await told("find_files", { pattern: "z.*" })).toBe("src/z.ts");
    expect(await told("list_directory", { path: "src/deep" })).toBe("er/\ny.ts");
    expect(await told("write_file", { path: "x" })).toMatch(/do not fit: content: .*It takes: path, content, /);
  });
});

test("a pattern that would take other programs for ever is searched for in no time", async () => {
  await using other = await ExecutingPlan.start();
  const { call } = await other.open();
  await call("write_file", { path: "long.txt", content: `${"a".repeat(60)}!` });
  expect(await call("search_files", { pattern: "^(a+)+$" })).toEqual([]);
});

describe("writing", () => {
  test("write_file keeps the mode unless told otherwise", async () => {
    await call("write_file", { path: "w/new", content: "ä", mode: "755" });
    await call("write_file", { path: "w/new", content: "b" });
    expect(await call("get_file_info", { path: "w/new" })).toMatchObject({ executable: true, size: 1 });
    await call("write_file", { path: "w/new", content: "b", mode: "644" });
    expect(await call("get_file_info", { path: "w/new" })).toMatchObject({ executable: false });
    await expect(call("write_file", { path: "src", content: "" })).rejects.toThrow("is a directory");
    await expect(call("write_file", { path: "a.txt/x", content: "" })).rejects.toThrow("not a directory");
    await expect(call("write_file", { path: "half", content: "\ud800" })).rejects.toThrow("half of a surrogate pair");
  });

  test("edit_file replaces what is there once, or all of it, and leaves the rest byte for byte", async () => {
    await fill(plan.root, { "e/crlf": "", "e/bom": "" });
    await call("write_file", { path: "e/crlf", content: "a\r\nb\r\na\r\n" });
    await call("write_file", { path: "e/bom", content: "\uFEFFa" });
    expect(await call("edit_file", { path: "e/crlf", old: "b", new: "$&c" })).toEqual({ path: "e/crlf", replaced: 1 });
    expect((await bytes("e/crlf")).toString()).toBe("a\r\n$&c\r\na\r\n");
    const before = await bytes("e/crlf");
    await expect(call("edit_file", { path: "e/crlf", old: "a", new: "x" })).rejects.toThrow("2 times, at lines 1, 3; ");
    await expect(call("edit_file", { path: "e/crlf", old: "zz", new: "x" })).rejects.toThrow('does not contain "zz"');
    expect(await bytes("e/crlf")).toEqual(before);
    expect(await call("edit_file", { path: "e/crlf", old: "a", new: "", all: true })).toMatchObject({ replaced: 2 });
    expect((await bytes("e/crlf")).toString()).toBe("\r\n$&c\r\n\r\n");
    await call("edit_file", { path: "e/bom", old: "a", new: "b" });
    expect(await bytes("e/bom")).toEqual(Buffer.from("\uFEFFb"));
    expect(
      await call("edit_file", {
        path: "e/bom",
        edits: [
          { old: "b", new: "c\nd" },
          { old: "d", new: "e" },
        ],
      }),
    ).toEqual({
      path: "e/bom",
      replaced: 2,
    });
    // All or nothing.
    const several = {
      path: "e/bom",
      edits: [
        { old: "c", new: "x" },
        { old: "zz", new: "y" },
      ],
    };
    await expect(call("edit_file", several)).rejects.toThrow('does not contain "zz" (edit 2 of 2)');
    expect(await bytes("e/bom")).toEqual(Buffer.from("\uFEFFc\ne"));
    await expect(call("edit_file", { path: "e/bom", old: "c" })).rejects.toThrow("an edit needs old and new");
    for (const path of ["none", "link"])
      await expect(call("edit_file", { path, old: "a", new: "b" })).rejects.toThrow("There is no file");
    await expect(call("edit_file", { path: "latin1.txt", old: "c", new: "k" })).rejects.toThrow("not UTF-8");
    expect(await bytes("latin1.txt")).toEqual(Buffer.from("caf\u00e9\n", "latin1"));
    await expect(call("edit_file", { path: "a.txt", old: "", new: "b" })).rejects.toBeInstanceOf(ValidationError);
  });

  test("write_file adds to the end of a file", async () => {
    await call("write_file", { path: "w/long", content: "one\n", append: true });
    await call("write_file", { path: "w/long", content: "two\n", append: true });
    expect((await bytes("w/long")).toString()).toBe("one\ntwo\n");
  });

  test("delete, copy and directories", async () => {
    await expect(call("delete_file", { path: "none" })).rejects.toThrow("There is no file");
    await call("copy_file", { path: "binary.bin", to: "c/copy.bin" });
    expect(await bytes("c/copy.bin")).toEqual(await bytes("binary.bin"));
    await expect(call("copy_file", { path: "a.txt", to: "c/copy.bin" })).rejects.toThrow("There is already a file");
    await expect(call("copy_file", { path: "none", to: "c/x" })).rejects.toThrow("There is no file");
    await call("create_directory", { path: "made/deep" });
    await call("create_directory", { path: "made/deep" });
    expect(await call("list_directory", { path: "made" })).toEqual([{ name: "deep", kind: "directory" }]);
    for (const path of ["a.txt", "link-out"])
      await expect(call("create_directory", { path })).rejects.toThrow("There is already a file");
    expect(await call("delete_directory", { path: "made" })).toEqual({ path: "made", deleted: 0 });
    await expect(call("list_directory", { path: "made" })).rejects.toThrow("is not a directory");
    expect(await call("delete_directory", { path: "c" })).toEqual({ path: "c", deleted: 1 });
    await expect(call("delete_directory", { path: "c" })).rejects.toThrow("does not exist");
    await expect(call("delete_directory", { path: "a.txt" })).rejects.toThrow("is not a directory");
    await expect(call("delete_directory", { path: "link-out" })).rejects.toThrow("is a symbolic link");
  });
});

test("delete_directory removes the directories too, leaves ignored files, and waits for a call that writes there", async () => {
  await using other = await ExecutingPlan.start();
  const { call, entries } = await other.open();
  await fill(other.root, { "d/keep.log": "ignored", "d/nested/.git/HEAD": "" });
  await call("write_file", { path: "d/sub/x/y/file", content: "1" }, "same");
  await call("create_directory", { path: "d/empty/er" });
  const writing = Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      call("write_file", { path: `d/sub/x/${index}`, content: `${index}` }, "same"),
    ),
  );
  const first = (await call("delete_directory", { path: "d" }, "same")) as { deleted: number };
  await writing;
  // A write before the deletion is deleted, a write after it makes a new file: nothing in between.
  const deletions = async (): Promise<number> =>
    (await entries()).filter(({ operation }) => operation === "delete").length;
  expect(await deletions()).toBe(first.deleted);
  await call("delete_directory", { path: "d" }, "same");
  expect(await deletions()).toBe(9);
  expect(await call("list_directory", { path: "d" })).toMatchObject([{ name: "keep.log" }, { name: "nested" }]);
  await rm(join(other.root, "d"), { recursive: true });
  // A command that is still running has everything to itself.
  await call("write_file", { path: "d/early", content: "1" }, "same");
  const command = call("shell_execute", { command: "sleep 0.4; echo 2 > d/late" }, "same");
  await call("delete_directory", { path: "d" }, "same");
  await command;
  expect(await deletions()).toBe(11);
  expect(await other.replayed(await entries())).toEqual(await other.tree());
});

describe("git", () => {
  test("shows status, changes, commits and authors of the sandbox", async () => {
    await call("write_file", { path: "crlf.txt", content: "changed\n" });
    expect(await call("git_status", { path: "crlf.txt" })).toBe(" M crlf.txt");
    expect(await call("git_status", {})).toContain(" M crlf.txt");
    expect(await call("git_diff", { path: "crlf.txt" })).toContain("+changed");
    expect(await call("git_log", { limit: 1 })).toMatch(/^[0-9a-f]+ work$/);
    expect(await call("git_blame", { path: "no-newline.txt" })).toContain("1) end");
    await expect(call("git_blame", { path: "none" })).rejects.toMatchObject({ code: "git_failed" });
    await expect(call("git_log", { limit: 0 })).rejects.toBeInstanceOf(ValidationError);
  });

  test("there is none in a copied directory", async () => {
    await using copy = await ExecutingPlan.start({ strategy: "filesystem_copy" });
    const { call } = await copy.open();
    await expect(call("git_status", {})).rejects.toThrow('The resource "api" is not a git checkout.');
  });
});

describe("the pipeline", () => {
  test("finds tools by name, with hyphens too, and suggests the nearest", async () => {
    expect(await call("read-file", { path: "empty.txt" })).toMatchObject({ content: "" });
    await expect(call("raed_file", {})).rejects.toMatchObject({ issues: [{ path: "tool", suggestion: "read_file" }] });
    const error = await call("zzzzzzzz", {}).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ message: 'There is no tool "zzzzzzzz".', issues: [{ path: "tool" }] });
    expect(error).not.toHaveProperty("issues.0.suggestion");
  });

  test("checks parameters before anything is done", async () => {
    for (const [tool, params, message] of [
      ["write_file", { path: "x" }, /^The parameters of write_file do not fit: content: /],
      ["write_file", { path: "x", content: "", more: 1 }, /more/],
      ["write_file", { path: 1, content: "" }, /path: /],
      ["write_file", { path: "x", content: "", mode: "777" }, /mode: /],
      ["shell_execute", { command: "" }, /command: /],
      ["shell_execute", { command: "x", timeout_ms: 0 }, /timeout_ms: /],
    ] as const) {
      const error = await call(tool, params).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ValidationError);
      expect(error).toMatchObject({ message: expect.stringMatching(message) });
    }
  });

  test("binds the resource that is named, or the only one", async () => {
    expect(await call("read_file", { resource: "api", path: "empty.txt" })).toBeDefined();
    await expect(call("read_file", { resource: "web", path: "x" })).rejects.toThrow(
      'The plan has no resource "web" (it has: api).',
    );
    await expect(call("read_file", { resource: 7, path: "x" })).rejects.toThrow("no resource");
    const { workspace } = open;
    const signal = new AbortController().signal;
    const request = { tool: "read_file", params: { path: "x" }, by: "me", decision: await plan.decision("me") };
    const { context } = open;
    const two = new Map([
      ["a", workspace],
      ["b", workspace],
    ]);
    await expect(
      callTool(request, { context, tools: ONLY_BUILT_IN, workspaces: two, readOnly: false, signal }),
    ).rejects.toThrow("Which resource? The plan has a, b.");
    const none = { context, tools: ONLY_BUILT_IN, workspaces: new Map(), readOnly: false, signal };
    await expect(callTool(request, none)).rejects.toThrow("Which resource? The plan has none.");
    await expect(callTool({ ...request, params: { path: "x", resource: "a" } }, none)).rejects.toThrow(
      "(it has: none)",
    );
  });

  test("a read-only plan reads only; an aborted one does nothing", async () => {
    await using fixed = await ExecutingPlan.start({ readOnly: true });
    const { call } = await fixed.open();
    expect(await call("read_file", { path: "empty.txt" })).toBeDefined();
    const writing = [...BUILT_IN_TOOLS.values()].filter((tool) => tool.writes).map(({ name }) => name);
    expect(writing.sort()).toEqual([
      "apply_patch",
      "command_output",
      "command_stop",
      "copy_file",
      "create_directory",
      "delete_directory",
      "delete_file",
      "edit_file",
      "move_file",
      "rewrite_code",
      "shell_execute",
      "write_file",
    ]);
    await expect(call("write_file", { path: "x", content: "" })).rejects.toThrow(
      '"write_file" writes, and the plan is read-only.',
    );
    await expect(
      call("read_file", { path: "a.txt" }, "me", AbortSignal.abort(new AgentsError("plan", "over"))),
    ).rejects.toThrow("over");
    expect(await fixed.tree()).toEqual(fixed.base);
  });
});
