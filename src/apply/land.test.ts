/** The seal of a journal says that every file has its name. So the names must be on disk before it is written. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import type { FileImage } from "../domain/plan/change-entry.ts";
import { REGULAR } from "../platform/file-state.ts";
import { contentHash } from "../store/contents/contents.ts";
import { ACTION_NAME, actionInput } from "../testing/fixtures.ts";
import { TemporaryStore } from "../testing/temporary-store.ts";
import { FILE_EFFECTS, type FileEffects } from "./file-effects.ts";
import { insertJournal } from "../ledger/journal.ts";
import { land } from "./land.ts";
import type { Landing } from "../ledger/landing.ts";

function image(text: string): FileImage {
  return { hash: contentHash(Buffer.from(text)), mode: REGULAR };
}

test("a landing ends with every directory in which a name came or went on disk, after the last move", async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "cleveragents-test-")));
  try {
    await using temporary = await TemporaryStore.open("memory");
    const { store } = temporary;
    const service = new PlanLifecycleService({ store });
    await service.createAction(actionInput());
    const { id: planId } = await service.useAction({ action: ACTION_NAME });
    mkdirSync(join(root, "deep"));
    writeFileSync(join(root, "deep/old.txt"), "old");
    const landing: Landing = {
      alias: "notes",
      root,
      git: undefined,
      files: [
        { path: "deep/old.txt", before: image("old"), after: image("new") },
        { path: "top.txt", before: undefined, after: image("top") },
      ],
      newDirectories: [],
    };
    const facts = { id: "J", planId, kind: "apply", holder: "me", undoneSteps: [], landings: [landing] } as const;
    const journal = await store.transaction((tx) => insertJournal(tx, facts));
    const done: string[] = [];
    const told = <A extends readonly unknown[]>(name: string, act: (...given: A) => void) => {
      return (...given: A): void => {
        done.push(name === "sync" ? `sync ${realpathSync(String(given[0]))}` : name);
        act(...given);
      };
    };
    const effects: FileEffects = {
      ...FILE_EFFECTS,
      rename: told("rename", FILE_EFFECTS.rename),
      link: told("link", FILE_EFFECTS.link),
      sync: told("sync", FILE_EFFECTS.sync),
    };
    const contents = new Map(["new", "top"].map((text) => [image(text).hash, Buffer.from(text)]));
    expect(await land(store, journal, effects, contents)).toMatchObject({ direction: "forward", kept: [] });
    expect(readFileSync(join(root, "deep/old.txt"), "utf8")).toBe("new");
    const lastMove = Math.max(done.lastIndexOf("rename"), done.lastIndexOf("link"));
    expect(lastMove).toBeGreaterThanOrEqual(0);
    const synced = done.slice(lastMove + 1);
    expect(synced.toSorted()).toEqual([`sync ${root}`, `sync ${join(root, "deep")}`].toSorted());
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
