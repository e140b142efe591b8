/** After a command the tree holds nothing that blocks or breaks the next reader. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { PATH_SEGMENTS } from "../../domain/plan/change-entry.ts";
import { removeTree } from "../../platform/remove-tree.ts";
import { requireSwept, sweep } from "./swept-tree.ts";

let home: string;
let root: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "cleveragents-sweep-"));
  root = join(home, "tree");
  mkdirSync(root);
});
afterEach(() => removeTree(home));

function shell(script: string): void {
  execFileSync("sh", ["-c", `set -e; ${script}`], { cwd: root });
}

test("pipes and sockets go, files, directories and links stay; the .git at the top is not looked into", async () => {
  shell(
    "mkdir -p a/b .git sub/.git x; mkfifo p a/b/.gitignore .git/HEAD sub/.git/HEAD x/.git; echo 1 > f; ln -s /dev/zero l",
  );
  const server = createServer().listen(join(root, "socket"));
  await new Promise((resolve) => server.once("listening", resolve));
  expect(await sweep(root)).toEqual({ tooDeep: undefined });
  server.close();
  expect((readdirSync(root, { recursive: true }) as string[]).sort()).toEqual(
    [".git", ".git/HEAD", "a", "a/b", "f", "l", "sub", "sub/.git", "x"].sort(),
  );
});

test("directories that were locked are opened, and no other right is given", async () => {
  shell("mkdir -p shut/in; mkfifo shut/in/p; chmod 0 shut/in; chmod 0510 shut");
  await sweep(root);
  expect(statSync(join(root, "shut")).mode & 0o777).toBe(0o710);
  expect(readdirSync(join(root, "shut", "in"))).toEqual([]);
});

test("what a link leads to is not touched", async () => {
  shell("mkdir ../outside; mkfifo ../outside/p; ln -s ../outside out; mkdir .git; ln -s ../../outside .git/out");
  await sweep(root);
  await removeTree(join(root, ".git"));
  await removeTree(join(root, "out"));
  expect(readdirSync(join(home, "outside"))).toEqual(["p"]);
  expect(readdirSync(root)).toEqual([]);
});

test(`${PATH_SEGMENTS} segments are a path, one more is told and removed`, async () => {
  const deepest = Array.from({ length: PATH_SEGMENTS - 1 }, () => "d").join("/");
  mkdirSync(join(root, deepest), { recursive: true });
  writeFileSync(join(root, deepest, "f"), "kept");
  await requireSwept(root);
  mkdirSync(join(root, deepest, "d", "d"), { recursive: true });
  await expect(requireSwept(root)).rejects.toMatchObject({
    code: "tool_failed",
    message: expect.stringContaining(`at most ${PATH_SEGMENTS} segments`),
  });
  expect(readdirSync(join(root, deepest))).toEqual(["f"]);
  expect(readFileSync(join(root, deepest, "f"), "utf8")).toBe("kept");
});

test("a tree deeper than the system takes paths, locked, with names in no UTF-8, is removed", async () => {
  const name = "n".repeat(60);
  shell(
    `for i in $(seq 90); do mkdir ${name}; cd -P ${name}; mkdir "$(printf '\\377')"; : > f; done; chmod 0 . "$(printf '\\377')"`,
  );
  await removeTree(root);
  expect(readdirSync(home)).toEqual([]);
  // A missing directory is fine, too.
  await removeTree(root);
  rmSync(home, { recursive: true });
  expect(await sweep(root)).toEqual({ tooDeep: undefined });
});
