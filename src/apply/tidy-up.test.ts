/**
 * A file that a program still writes into after it was moved aside is kept, also when the clock was ahead as the
 * landing began.
 */
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { REGULAR } from "../platform/file-state.ts";
import type { PlanId } from "../domain/names/ids.ts";
import { contentHash } from "../store/contents/contents.ts";
import { FILE_EFFECTS } from "./file-effects.ts";
import type { Journal } from "../ledger/journal.ts";
import { tidyUp } from "./land.ts";
import type { Landing } from "../ledger/landing.ts";
import { stagingOf } from "./settle.ts";

const DAY_MS = 86_400_000;

function journalOf(root: string, createdAt: number): { journal: Journal; landing: Landing } {
  const before = { hash: contentHash(Buffer.from("old\n")), mode: REGULAR };
  const files = [{ path: "a.txt", before, after: undefined }];
  const landing: Landing = { alias: "notes", root, git: undefined, files, newDirectories: [] };
  const journal: Journal = {
    id: "01JOURNAL",
    kind: "apply",
    planId: "01PLAN" as PlanId,
    host: "here",
    boot: "now",
    holder: "me",
    direction: undefined,
    outcome: "done",
    undoneSteps: [],
    landings: [landing],
    kept: [],
    review: undefined,
    createdAt,
    sealedAt: createdAt,
  };
  return { journal, landing };
}

test.each([
  ["right", 0],
  ["a day ahead", DAY_MS],
])("a clock that was %s", async (_, step) => {
  const root = mkdtempSync(join(tmpdir(), "cleveragents-tidy-"));
  try {
    writeFileSync(join(root, "a.txt"), "old\n");
    await sleep(20);
    const { journal, landing } = journalOf(root, Date.now() + step);
    const aside = join(stagingOf(landing, journal.id), "before", "0");
    mkdirSync(join(aside, ".."), { recursive: true });
    renameSync(join(root, "a.txt"), aside);
    await sleep(20);
    appendFileSync(aside, "late\n");
    expect(tidyUp(journal, FILE_EFFECTS)).toEqual([aside]);
    expect(existsSync(aside)).toBe(true);

    writeFileSync(aside, "old\n");
    expect(tidyUp(journal, FILE_EFFECTS)).toEqual([]);
    expect(existsSync(aside)).toBe(false);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
