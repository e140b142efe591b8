/** Directories that come and go with their files, when the landing is stopped in between. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { FileImage } from "../domain/plan/change-entry.ts";
import { REGULAR } from "../platform/file-state.ts";
import { contentHash } from "../store/contents/contents.ts";
import { FILE_EFFECTS, type FileEffects } from "./file-effects.ts";
import type { Landing } from "../ledger/landing.ts";
import { settleFiles, stageFiles, type SettleContext } from "./settle.ts";

const OLD = Buffer.from("old\n");
const NEW = Buffer.from("new\n");

function image(content: Uint8Array): FileImage {
  return { hash: contentHash(content), mode: REGULAR };
}

function contextWith(effects: FileEffects): SettleContext {
  const contentOf = (hash: string): Promise<Uint8Array> => Promise.resolve(hash === image(OLD).hash ? OLD : NEW);
  return { journalId: "J", effects, contentOf, fresh: false, powerLost: false };
}

test("an emptied directory is removed, and makes room for a file, also when its files had been removed before a crash", async () => {
  const root = mkdtempSync(join(tmpdir(), "cleveragents-test-"));
  try {
    for (const name of ["gone", "place"]) {
      mkdirSync(join(root, name));
      writeFileSync(join(root, name, "only.txt"), OLD);
    }
    const files = [
      { path: "gone/only.txt", before: image(OLD), after: undefined },
      { path: "place", before: undefined, after: image(NEW) },
      { path: "place/only.txt", before: image(OLD), after: undefined },
    ];
    const landing: Landing = { alias: "notes", root, git: undefined, files, newDirectories: [] };
    const stopped = new Error("killed");
    const killed = contextWith({
      ...FILE_EFFECTS,
      removeDirectory: () => {
        throw stopped;
      },
    });
    await stageFiles(landing, "forward", killed);
    expect(() => settleFiles(landing, "forward", killed, { strict: true })).toThrow(stopped);
    expect(existsSync(join(root, "gone/only.txt"))).toBe(false);

    expect(settleFiles(landing, "forward", contextWith(FILE_EFFECTS), { strict: false })).toEqual([]);
    expect(existsSync(join(root, "gone"))).toBe(false);
    expect(readFileSync(join(root, "place"), "utf8")).toBe("new\n");
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
