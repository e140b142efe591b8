/** Staged files after a crash: what was written half is written anew, whichever way the landing goes. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { FileImage } from "../domain/change-entry.ts";
import { REGULAR } from "../execution/file-state.ts";
import { contentHash } from "../store/contents.ts";
import { HANDS, type Hands } from "./hands.ts";
import type { Direction, Landing } from "./landing.ts";
import { settleFiles, stageFiles, type SettleContext } from "./settle.ts";

const CONTENTS = ["old content\n", "new content\n"].map((text) => Buffer.from(text));

function image(content: Uint8Array): FileImage {
  return { hash: contentHash(content), mode: REGULAR };
}

function contextWith(hands: Hands, powerLost: boolean): SettleContext {
  const contentOf = async (hash: string): Promise<Uint8Array> =>
    CONTENTS.find((content) => contentHash(content) === hash) ?? Buffer.from("");
  return { journalId: "J", hands, contentOf, fresh: false, powerLost };
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
    const halfWay: Hands = {
      ...HANDS,
      write: (path, content, permissions) => {
        HANDS.write(path, content.subarray(0, 3), permissions);
        throw new Error("killed");
      },
    };
    await expect(stageFiles(landing, direction, contextWith(halfWay, powerLost))).rejects.toThrow("killed");
    await stageFiles(landing, direction, contextWith(HANDS, powerLost));
    expect(settleFiles(landing, direction, contextWith(HANDS, powerLost), { strict: true })).toEqual([]);
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe(wanted.toString());
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
