import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readFile } from "./read-file.ts";
import { IndexedDirectory } from "../testing/indexed-directory.ts";

test("an opened file is never a link, never a pipe, and never larger than the limit", () => {
  using directory = new IndexedDirectory({ "text.txt": "hello", binary: Buffer.from("a\0b") });
  const at = (name: string): string => join(directory.root, name);
  symlinkSync("text.txt", at("link"));
  mkdirSync(at("directory"));
  // No process will ever write to it: opening it the ordinary way would wait for ever.
  execFileSync("mkfifo", [at("pipe")]);
  expect(readFile(at("text.txt"), 5)).toMatchObject({ is: "read", size: 5 });
  expect(readFile(at("text.txt"), 4)).toEqual({ is: "gap", reason: "larger than 4 bytes" });
  expect(readFile(at("binary"), 5)).toMatchObject({ is: "binary" });
  expect(readFile(at("link"), 5)).toEqual({ is: "link" });
  expect(readFile(at("pipe"), 5)).toEqual({ is: "gap", reason: "not a regular file" });
  expect(readFile(at("directory"), 5)).toEqual({ is: "gap", reason: "not a regular file" });
  expect(readFile(at("nothing"), 5)).toEqual({ is: "gone" });
  // The system says of these that they are empty, and they are not.
  expect(readFile("/proc/self/stat", 100_000)).toMatchObject({ is: "read" });
});

test("a file that was just written may be written again without a trace; an old one may not", () => {
  using directory = new IndexedDirectory({ "new.txt": "new" });
  const file = join(directory.root, "new.txt");
  const hour = 3_600;
  utimesSync(file, Date.now() / 1_000 + hour, Date.now() / 1_000 + hour);
  expect(readFile(file, 5)).toMatchObject({ is: "read", racy: true });
  expect(readFile("/etc/passwd", 1_000_000)).toMatchObject({ is: "read", racy: false });
});
