import { existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ChangesetStore } from "../../ledger/changesets.ts";
import { openStore } from "../sqlite/open-store.ts";
import { PlanError, StoreError, ValidationError } from "../../domain/errors/errors.ts";
import { PlanLifecycleService } from "../../plans/plan-lifecycle-service.ts";
import { commitContents, contentHash, stageContent } from "./contents.ts";
import { actionInput } from "../../testing/fixtures.ts";
import { STORE_KINDS, TemporaryStore, type StoreKind } from "../../testing/temporary-store.ts";

const MODE = 0o100644;
const SMALL = new TextEncoder().encode("hello\n");
const LARGE = new Uint8Array(300 * 1024).map((_, index) => index % 251);

async function prepared(kind: StoreKind) {
  const temporary = await TemporaryStore.open(kind);
  const service = new PlanLifecycleService({ store: temporary.store });
  await service.createAction(actionInput());
  const plan = await service.useAction({ action: "local/fix" });
  const changesets = new ChangesetStore(temporary.store);
  return { temporary, changesets, id: await changesets.start(plan.id) };
}

/** Where the SQLite driver keeps the large contents of a store in a file. */
function contentDirectory({ store }: TemporaryStore): string {
  return `${store.url.replace(/^sqlite:/, "")}.contents`;
}

function storedFiles(temporary: TemporaryStore): string[] {
  const directory = contentDirectory(temporary);
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

describe.each(STORE_KINDS)("on a %s store", (kind) => {
  test("of many contents those that are not there yet are added", async () => {
    const { temporary, changesets, id } = await prepared(kind);
    await using _ = temporary;
    const [known = SMALL, ...others] = Array.from({ length: 450 }, (_, index) => Buffer.from(`content ${index}\n`));
    const after = { content: known, mode: MODE };
    await changesets.record(id, { resource: "api", path: "known", operation: "create", after });
    const all = [known, ...others, LARGE];
    const staged = await Promise.all(all.map((bytes) => stageContent(temporary.store, bytes)));
    await temporary.store.transaction((tx) => commitContents(tx, staged));
    const found = new Set<string>();
    for await (const [hash] of changesets.contents(all.map((bytes) => contentHash(bytes)))) found.add(hash);
    expect(found.size).toBe(all.length);
  });

  test("contents come back byte for byte, small and large, and are stored once", async () => {
    const { temporary, changesets, id } = await prepared(kind);
    await using _ = temporary;
    const entries = await Promise.all([
      changesets.record(id, {
        resource: "api",
        path: "small",
        operation: "create",
        after: { content: SMALL, mode: MODE },
      }),
      changesets.record(id, {
        resource: "api",
        path: "large",
        operation: "create",
        after: { content: LARGE, mode: MODE },
      }),
      changesets.record(id, {
        resource: "api",
        path: "again",
        operation: "create",
        after: { content: LARGE, mode: MODE },
      }),
      changesets.record(id, {
        resource: "api",
        path: "empty",
        operation: "modify",
        before: { content: SMALL, mode: MODE },
        after: { content: new Uint8Array(), mode: MODE },
      }),
    ]);
    expect(entries.map((entry) => entry.after?.hash)).toEqual([SMALL, LARGE, LARGE, new Uint8Array()].map(contentHash));
    for (const bytes of [SMALL, LARGE, new Uint8Array()]) {
      const found = await changesets.content(contentHash(bytes));
      expect(Buffer.compare(found ?? Buffer.from("nothing"), bytes)).toBe(0);
    }
    expect(await temporary.store.read((reader) => reader.get("SELECT COUNT(*) AS n FROM contents"))).toEqual({ n: 3 });
    expect(storedFiles(temporary)).toHaveLength(kind === "file" ? 1 : 0);
    expect(await changesets.content("0".repeat(64))).toBeUndefined();
  });

  test("an entry that is refused leaves no row of its content", async () => {
    const { temporary, changesets, id } = await prepared(kind);
    await using _ = temporary;
    const entry = { resource: "api", path: "x", operation: "create", after: { content: LARGE, mode: MODE } } as const;
    await expect(changesets.record(id, { ...entry, path: "../x" })).rejects.toBeInstanceOf(ValidationError);
    expect(storedFiles(temporary)).toEqual([]);
    await changesets.close(id);
    await expect(changesets.record(id, entry)).rejects.toBeInstanceOf(PlanError);
    expect(await changesets.content(contentHash(LARGE))).toBeUndefined();
  });
});

describe("a large content", () => {
  const entry = { resource: "api", path: "x", operation: "create", after: { content: LARGE, mode: MODE } } as const;

  test("is private, survives the process that wrote it, and a half written one is written again", async () => {
    const { temporary, changesets, id } = await prepared("file");
    await using _ = temporary;
    await changesets.record(id, entry);
    const [file = ""] = storedFiles(temporary);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await using again = await openStore(temporary.store.url);
    expect(await new ChangesetStore(again).content(contentHash(LARGE))).toHaveLength(LARGE.length);
    truncateSync(file, 10);
    await changesets.record(id, { ...entry, path: "y" });
    expect(statSync(file).size).toBe(LARGE.length);
    expect(storedFiles(temporary)).toEqual([file]);
  });

  test.each([
    ["damaged", (file: string) => writeFileSync(file, "something else")],
    ["missing", (file: string) => rmSync(file)],
  ])("that is %s is reported, not handed out", async (word, harm) => {
    const { temporary, changesets, id } = await prepared("file");
    await using _ = temporary;
    await changesets.record(id, entry);
    const [file = ""] = storedFiles(temporary);
    harm(file);
    const reading = changesets.content(contentHash(LARGE));
    await expect(reading).rejects.toMatchObject({ code: "store_corrupt", message: expect.stringContaining(word) });
  });

  test("that cannot be written refuses its entry and leaves nothing", async () => {
    const { temporary, changesets, id } = await prepared("file");
    await using _ = temporary;
    writeFileSync(contentDirectory(temporary), "a file in the way");
    await expect(changesets.record(id, entry)).rejects.toMatchObject({ code: "store_failed" });
    expect(await changesets.entries(id)).toEqual([]);
    rmSync(contentDirectory(temporary));
    await changesets.record(id, entry);
    const [file = ""] = storedFiles(temporary);
    rmSync(file);
    // A directory where the file belongs: the write goes well, the rename does not.
    mkdirSync(join(file, "in the way"), { recursive: true });
    await expect(changesets.record(id, { ...entry, path: "z" })).rejects.toBeInstanceOf(StoreError);
    expect(storedFiles(temporary).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    expect(await changesets.entries(id)).toHaveLength(1);
  });
});
