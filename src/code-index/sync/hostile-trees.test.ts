import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { IndexedDirectory } from "../testing/indexed-directory.ts";
import { IndexProcess } from "../testing/run-program.ts";

test("links in circles, pipes, sockets and empty directories do not block a sync", async () => {
  using directory = new IndexedDirectory({ "a.ts": "export const a = 1;\n" });
  mkdirSync(join(directory.root, "deep/empty"), { recursive: true });
  symlinkSync("..", join(directory.root, "deep/up"));
  symlinkSync("two", join(directory.root, "one"));
  symlinkSync("one", join(directory.root, "two"));
  symlinkSync("nowhere", join(directory.root, "broken.ts"));
  execFileSync("mkfifo", [join(directory.root, "pipe.ts")]);
  const server = createServer().listen(join(directory.root, "socket.ts"));
  await once(server, "listening");
  using index = await directory.open();
  server.close();
  expect(index.files().map(({ path }) => path)).toEqual(["a.ts"]);
});

test("a tracked file that became a pipe is a gap", async () => {
  using directory = new IndexedDirectory({ "a.ts": "export const a = 1;\n" });
  execFileSync("git", ["init", "--quiet", directory.root]);
  execFileSync("git", ["-C", directory.root, "add", "a.ts"]);
  await directory.sync();
  rmSync(join(directory.root, "a.ts"));
  execFileSync("mkfifo", [join(directory.root, "a.ts")]);
  expect(await directory.sync()).toMatchObject({ files: 0, gaps: [{ path: "a.ts", reason: "not a regular file" }] });
});

test("every name that is text is a name", async () => {
  const names = [
    "new\nline.ts",
    "tab\t.ts",
    "back\\slash.ts",
    'quo"te.ts',
    " space ",
    "-dash",
    "ünï.ts",
    "😀.ts",
    "*.ts",
    "a'b",
  ];
  using directory = new IndexedDirectory(Object.fromEntries(names.map((name) => [name, `export const x = 1;\n`])));
  writeFileSync(
    Buffer.concat([Buffer.from(`${directory.root}/bad-`), Buffer.from([0xff, 0xfe]), Buffer.from(".ts")]),
    "x",
  );
  using index = await directory.open();
  expect(index.files().map(({ path }) => path)).toEqual(names.toSorted());
  expect(index.gaps()).toEqual([{ resource: "app", path: "bad-��.ts", reason: "its name is not valid UTF-8" }]);
  for (const name of names) expect(index.text(index.file("app", name) as never)).toBe("export const x = 1;\n");
});

test("text that is not UTF-8 is searched nevertheless, and reported", async () => {
  using directory = new IndexedDirectory({
    "latin.txt": Buffer.from("Gr\u00fc\u00dfe token", "latin1"),
    "bom.ts": Buffer.from("\ufeffexport const bom = 1;\n"),
    "utf16.txt": Buffer.from("token", "utf16le"),
  });
  using index = await directory.open();
  expect(index.files().map(({ path }) => path)).toEqual(["bom.ts", "latin.txt"]);
  expect(index.searchText(["token"], 5).map(({ file }) => file.path)).toEqual(["latin.txt"]);
  expect(index.definitionsNamed("bom")).toHaveLength(1);
  expect(index.gaps()).toEqual([
    { resource: "app", path: "latin.txt", reason: "not valid UTF-8: some characters are replaced" },
  ]);
});

test("huge lines, endless repetition and deep nesting are indexed or named, soon", async () => {
  using directory = new IndexedDirectory({
    "minified.js": `var a=1;${"f(a);".repeat(10_000_000)}`,
    "equal.ts": "a".repeat(100_000),
    "nested.ts": "(".repeat(50_000),
    "spaces.md": " ".repeat(500_000),
    "ok.ts": "export const ok = 1;\n",
  });
  using index = await directory.open();
  const gaps = new Map(index.gaps().map(({ path, reason }) => [path, reason]));
  expect(gaps.get("minified.js")).toBe("larger than 1 MiB");
  expect(index.definitionsNamed("ok")).toHaveLength(1);
  expect(index.files().map(({ path }) => path)).toEqual(["equal.ts", "nested.ts", "ok.ts", "spaces.md"]);
  // With the limit lifted it is searched, though not parsed.
  using lifted = await directory.open({}, { maxFileSize: 100_000_000 });
  expect(lifted.file("app", "minified.js")?.size).toBe(50_000_008);
});

test("a file without read permission is named", async () => {
  using directory = new IndexedDirectory({
    "a.ts": "export const a = 1;\n",
    "secret.ts": "export const secret = 1;\n",
    "locked/b.ts": "export const b = 1;\n",
  });
  // Root may read everything, so another user reads.
  const uid = process.getuid?.() === 0 ? 65_534 : undefined;
  mkdirSync(join(directory.home, "data"), { recursive: true });
  chmodSync(directory.home, 0o755);
  if (uid !== undefined) for (const path of ["data", "root"]) chownSync(join(directory.home, path), uid, uid);
  chmodSync(join(directory.root, "secret.ts"), 0o000);
  chmodSync(join(directory.root, "locked"), 0o000);
  const lines = await new IndexProcess("sync", directory.home, uid === undefined ? {} : { uid }).lines();
  chmodSync(join(directory.root, "locked"), 0o755);
  expect(lines.at(-1)).toMatchObject({
    files: 1,
    gaps: [
      { path: "locked", reason: "a directory that cannot be read: Permission denied" },
      { path: "secret.ts", reason: "cannot be read: no permission" },
    ],
  });
});

test("files that come, go, grow and become something else meanwhile are seen as one of the things they were", async () => {
  using directory = new IndexedDirectory();
  // A file that is being written has whole pages: with 8 bytes in a line, any part of it that is there has whole lines.
  const lineOf = (number: number): string => `${String(number).padStart(7, "0")}\n`;
  for (let at = 0; at < 60; at += 1) directory.write(`${at}.txt`, lineOf(at));
  let stop = false;
  const turmoil = (async () => {
    for (let at = 0; !stop; at = (at + 7) % 60) {
      const path = join(directory.root, `${at}.txt`);
      try {
        if (at % 4 === 0) rmSync(path, { force: true });
        else if (at % 4 === 1) writeFileSync(path, lineOf(at).repeat(1 + (at % 9) * 1_000));
        else if (at % 4 === 2) renameSync(path, `${path}.moved`);
        else symlinkSync("/etc/passwd", path);
      } catch {
        // It was something else by then.
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  for (let round = 0; round < 10; round += 1) {
    using index = await directory.open();
    for (const file of index.files()) {
      const [number = ""] = /^\d+/.exec(file.path) ?? [];
      expect(index.text(file).replaceAll(lineOf(Number(number)), "")).toBe("");
    }
  }
  stop = true;
  await turmoil;
});
