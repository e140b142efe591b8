import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { StoreError } from "../domain/errors/errors.ts";
import { withFileLock } from "./file-lock.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "cleveragents-lock-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test("sections under one lock never overlap; those under another do not wait", async () => {
  let inside = 0;
  let most = 0;
  const section = async (): Promise<void> => {
    inside += 1;
    most = Math.max(most, inside);
    await sleep(2);
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 10 }, () => withFileLock(join(directory, "a.lock"), section)));
  expect(most).toBe(1);
  await withFileLock(join(directory, "a.lock"), () => withFileLock(join(directory, "b.lock"), section));
});

test("a failing section frees the lock; a held one runs out of patience with a clear error", async () => {
  const file = join(directory, "a.lock");
  await expect(withFileLock(file, () => Promise.reject(new Error("inside")))).rejects.toThrow("inside");
  await withFileLock(file, async () => {
    await expect(withFileLock(file, async () => undefined, { patienceMs: 30 })).rejects.toThrow(StoreError);
  });
  expect(await withFileLock(file, async () => "free")).toBe("free");
});

test("a path that is not a lock file is reported as such", async () => {
  await expect(withFileLock(directory, async () => undefined)).rejects.toThrow(/unable to open/);
});
