/** A write that fails leaves the sandbox as it was: what lies there unrecorded would land with the next look. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LINK, REGULAR, writeState } from "./file-state.ts";

test.each([
  ["a file", { content: Buffer.from("new"), mode: REGULAR }],
  ["a large file", { content: Buffer.alloc(2 * 1024 * 1024, "x"), mode: REGULAR }],
  ["a link", { content: Buffer.from("elsewhere"), mode: LINK }],
])("%s that cannot take the place of a directory", async (_, state) => {
  const root = mkdtempSync(join(tmpdir(), "cleveragents-test-"));
  try {
    mkdirSync(join(root, "place"));
    writeFileSync(join(root, "place/inside.txt"), "kept");
    await expect(writeState(root, "place", state)).rejects.toMatchObject({ code: expect.stringMatching(/^E/) });
    expect(readdirSync(root)).toEqual(["place"]);
    expect(readFileSync(join(root, "place/inside.txt"), "utf8")).toBe("kept");
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
