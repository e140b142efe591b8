/** The seal of a journal says that everything has its name. So the names must be on disk before anything can be sealed. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PlanLifecycleService } from "../index.ts";
import type { FileImage } from "../domain/change-entry.ts";
import { REGULAR } from "../execution/file-state.ts";
import { contentHash } from "../store/contents.ts";
import { ACTION_NAME, actionInput } from "../testing/fixtures.ts";
import { TemporaryStore } from "../testing/temporary-store.ts";
import { HANDS, type Hands } from "./hands.ts";
import { insertJournal } from "./journal.ts";
import { land } from "./land.ts";
import type { Landing } from "./landing.ts";

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
    const hands: Hands = {
      ...HANDS,
      rename: told("rename", HANDS.rename),
      link: told("link", HANDS.link),
      sync: told("sync", HANDS.sync),
    };
    const contents = new Map(["new", "top"].map((text) => [image(text).hash, Buffer.from(text)]));
    expect(await land(store, journal, hands, contents)).toMatchObject({ direction: "forward", kept: [] });
    expect(readFileSync(join(root, "deep/old.txt"), "utf8")).toBe("new");
    const lastMove = Math.max(done.lastIndexOf("rename"), done.lastIndexOf("link"));
    expect(lastMove).toBeGreaterThanOrEqual(0);
    const synced = done.slice(lastMove + 1);
    expect(synced.toSorted()).toEqual([`sync ${root}`, `sync ${join(root, "deep")}`].toSorted());
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
