/** Staged files after a crash: a half written file is written again, in both directions of the landing. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { FileImage } from "../domain/plan/change-entry.ts";
import { REGULAR } from "../platform/file-state.ts";
import { contentHash } from "../store/contents/contents.ts";
import { FILE_EFFECTS, type FileEffects } from "./file-effects.ts";
import type { Direction, Landing } from "../ledger/landing.ts";
import { settleFiles, stageFiles, type SettleContext } from "./settle.ts";

const CONTENTS = ["old content\n", "new content\n"].map((text) => Buffer.from(text));

function image(content: Uint8Array): FileImage {
  return { hash: contentHash(content), mode: REGULAR };
}

function contextWith(effects: FileEffects, powerLost: boolean): SettleContext {
  const contentOf = async (hash: string): Promise<Uint8Array> =>
    CONTENTS.find((content) => contentHash(content) === hash) ?? Buffer.from("");
  return { journalId: "J", effects, contentOf, fresh: false, powerLost };
}

test.each([
  ["forward", false],
  ["forward", true],
  ["back", true],
] as const)("on the way %s, power lost: %s", async (direction: Direction, powerLost) => {
  const root = mkdtempSync(join(tmpdir(), "cleveragents-test-"));
  try {
    const [before = Buffer.from(""), after = Buffer.from("")] = CONTENTS;
    const [there, wanted] = direction === "forward" ? [before, after] : [after, before];
    writeFileSync(join(root, "a.txt"), there);
    const files = [{ path: "a.txt", before: image(before), after: image(after) }];
    const landing: Landing = { alias: "notes", root, git: undefined, files, newDirectories: [] };
    const halfWay: FileEffects = {
      ...FILE_EFFECTS,
      write: (path, content, permissions) => {
        FILE_EFFECTS.write(path, content.subarray(0, 3), permissions);
        throw new Error("killed");
      },
    };
    await expect(stageFiles(landing, direction, contextWith(halfWay, powerLost))).rejects.toThrow("killed");
    await stageFiles(landing, direction, contextWith(FILE_EFFECTS, powerLost));
    expect(settleFiles(landing, direction, contextWith(FILE_EFFECTS, powerLost), { strict: true })).toEqual([]);
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe(wanted.toString());
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
