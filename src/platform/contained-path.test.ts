/** Containment: no path, and no link put in its way, lets a tool read or change anything outside the sandbox. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ContainedDirectory, ifCode } from "./contained-path.ts";
import {
  LINK,
  readState,
  REGULAR,
  removeState,
  sameState,
  stateHash,
  writeState,
  type FileState,
} from "./file-state.ts";
import { ALIAS, ExecutingPlan } from "../execution/testing/executing-plan.ts";
import { fill, readTree } from "../execution/testing/trees.ts";

let directory: string;
let root: string;
const state: FileState = { content: Buffer.from("evil"), mode: REGULAR };

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "cleveragents-contained-"));
  root = join(directory, "sandbox");
  await fill(directory, {
    "sandbox/inside/file": "inside",
    "sandbox/out": { link: "../outside" },
    "sandbox/in": { link: "inside" },
    "sandbox/absolute": { link: join(directory, "outside") },
    "sandbox/file-out": { link: "../outside/secret" },
    "sandbox/loop": { link: "loop" },
    "sandbox-x/secret": "neighbor",
    "outside/secret": "secret",
  });
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const REFUSED = [
  "..",
  "../outside/secret",
  "inside/../../outside/secret",
  "../sandbox-x/secret",
  "/etc/passwd",
  "C:/x",
  "a\0b",
  "inside\\..\\x",
  "",
  ".",
  "./a",
  "a//b",
  "a/",
  ".git/config",
  ".GIT/config",
  "inside/.git/x",
  ".git",
  ".g\u200cit/config",
  "git~1/config",
  ".git./x",
  ".git::$INDEX_ALLOCATION/x",
  "a\nb",
  "out/secret",
  "out/new",
  "absolute/secret",
  "in/file",
  "loop/x",
];

test.each(REFUSED)("%j is refused, and nothing is changed", async (path) => {
  const before = await readTree(directory);
  for (const attempt of [
    () => readState(root, path),
    () => writeState(root, path, state),
    () => writeState(root, path, undefined),
    () => removeState(root, path),
  ])
    await expect(attempt()).rejects.toMatchObject({ code: "contained", kept: "Nothing was changed." });
  expect(await readTree(directory)).toEqual(before);
});

test("every tool refuses them too", async () => {
  await using plan = await ExecutingPlan.start();
  const { call, entries } = await plan.open();
  const before = [await plan.tree(), await plan.user.fingerprint()];
  for (const path of ["../x", "/etc/passwd", ".git/config", "a\0b", "link-out/passwd"]) {
    for (const [tool, params] of [
      ["read_file", { path }],
      ["write_file", { path, content: "" }],
      ["edit_file", { path, old: "a", new: "b" }],
      ["delete_file", { path }],
      ["move_file", { path, to: "x" }],
      ["move_file", { path: "a.txt", to: path }],
      ["copy_file", { path, to: "x" }],
      ["copy_file", { path: "a.txt", to: path }],
      ["get_file_info", { path }],
      ["list_directory", { path }],
      ["search_files", { path, pattern: "root" }],
      ["find_files", { path, glob: "*" }],
      ["apply_patch", { patch: `*** Add File: ${path.replace("\0", " ")}/../../x\n+x` }],
      ["create_directory", { path }],
      ["delete_directory", { path }],
      ["git_blame", { path }],
      ["git_status", { path }],
      ["shell_execute", { command: "touch x", cwd: path }],
    ] as const) {
      const outcome = call(tool, { resource: ALIAS, ...params });
      if (tool === "git_status" && path.startsWith("link-out")) await outcome.catch(() => undefined);
      else await expect(outcome, `${tool} ${path}`).rejects.toMatchObject({ code: /contained|tool_failed|git_failed/ });
    }
  }
  await expect(call("shell_execute", { command: "touch x", cwd: "link-out" })).rejects.toMatchObject({
    code: "contained",
  });
  await expect(call("shell_execute", { command: "touch x", cwd: "none" })).rejects.toThrow("does not exist");
  expect([await plan.tree(), await plan.user.fingerprint()]).toEqual(before);
  expect(await entries()).toEqual([]);
});

test("the sandbox itself may not be a link; where it is kept may be reached by one", async () => {
  await symlink(root, join(directory, "elsewhere"));
  await expect(readState(join(directory, "elsewhere"), "inside/file")).rejects.toMatchObject({ code: "contained" });
  await symlink(directory, join(directory, "sandbox-x", "by-link"));
  expect(await readState(join(directory, "sandbox-x", "by-link", "sandbox"), "inside/file")).toBeDefined();
});

test("a link at the end of a path is itself the file: read, replaced and removed as a link", async () => {
  expect(await readState(root, "file-out")).toEqual({ content: Buffer.from("../outside/secret"), mode: LINK });
  await writeState(root, "file-out", state);
  await writeState(root, "out", undefined);
  const tree = await readTree(directory);
  expect(tree.get("outside/secret")).toContain("secret");
  expect(tree.has("sandbox/out")).toBe(false);
});

test("while directories and links change places, nothing is ever written outside", async () => {
  await mkdir(join(root, "d/e"), { recursive: true });
  // Another process swaps a directory and a link to the outside as fast as it can.
  const swapper = `
    const fs = require("node:fs"); process.chdir(${JSON.stringify(root)});
    fs.symlinkSync("../outside", "other"); console.log("ready");
    const move = (from, to) => { try { fs.renameSync(from, to); } catch { try { fs.rmSync(to, { recursive: true, force: true }); } catch {} } };
    for (;;) { move("d", "keep"); move("other", "d"); move("d", "other"); move("keep", "d"); }`;
  const child = spawn(process.execPath, ["-e", swapper], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  let written = 0;
  try {
    await once(child.stdout, "data");
    const until = performance.now() + 800;
    for (let round = 0; performance.now() < until; round += 1) {
      await writeState(root, `d/${round % 7}/f/file`, state).then(
        () => (written += 1),
        () => undefined,
      );
      const seen = await readState(root, "d/secret").catch(() => undefined);
      expect(seen).toBeUndefined();
    }
  } finally {
    child.kill("SIGKILL");
    await exited;
  }
  expect(written).toBeGreaterThan(0);
  expect(await readdir(join(directory, "outside"))).toEqual(["secret"]);
});

describe("states", () => {
  test("come back as they were put, with the directories they need", async () => {
    for (const one of [
      { content: Buffer.from(""), mode: REGULAR },
      { content: Buffer.from([0, 255, 10]), mode: 0o100755 },
      { content: Buffer.from("nowhere/ü"), mode: LINK },
    ]) {
      await writeState(root, "n/e w/ö", one);
      const back = await readState(root, "n/e w/ö");
      expect(sameState(back, one)).toBe(true);
      expect(stateHash(one)).toMatch(/^[0-9a-f]{64}$/);
    }
    expect(await readdir(join(root, "n/e w"))).toEqual(["ö"]);
    expect(sameState(undefined, state)).toBe(false);
    expect(sameState(undefined, undefined)).toBe(true);
    expect(sameState({ ...state, mode: LINK }, state)).toBe(false);
  });

  test("nothing is where there is no file; a directory is none", async () => {
    expect(await readState(root, "none")).toBeUndefined();
    expect(await readState(root, "none/none")).toBeUndefined();
    expect(await readState(root, "inside/file/none")).toBeUndefined();
    await expect(readState(root, "inside")).rejects.toThrow("is a directory");
    const fifo = spawn("mkfifo", [join(root, "fifo")]);
    await once(fifo, "exit");
    await expect(readState(root, "fifo")).rejects.toThrow("neither a file nor a link");
    await expect(writeState(root, "none/x", undefined)).rejects.toThrow("does not exist");
    await expect(writeState(root, "inside/file/x", state)).rejects.toThrow("not a directory");
  });

  test("removing takes along the directories that are empty then, and no others", async () => {
    await fill(root, { "r/a/b/x": "", "r/y": "" });
    await removeState(root, "r/a/b/x");
    expect(await readdir(join(root, "r"))).toEqual(["y"]);
    await removeState(root, "r/y");
    await expect(readdir(join(root, "r"))).rejects.toThrow("ENOENT");
  });

  test("a failure that is not the expected one is not swallowed", async () => {
    const other = Object.assign(new Error("no"), { code: "EACCES" });
    expect(() => ifCode("ENOENT")(other)).toThrow(other);
    expect(ifCode("EACCES")(other)).toBeUndefined();
    await writeFile(join(root, "f"), "");
    const { directory: opened, name } = await ContainedDirectory.of(root, "f", { create: false });
    await using held = opened;
    expect(held.at(name)).toMatch(/\/f$/);
  });
});
