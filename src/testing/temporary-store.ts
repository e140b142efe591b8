/** Stores for tests: a new one each time, gone with everything it wrote when its scope ends. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type OpenStoreOptions } from "../store/sqlite/open-store.ts";
import type { Store } from "../store/port.ts";

export const STORE_KINDS = ["memory", "file"] as const;
export type StoreKind = (typeof STORE_KINDS)[number];

export class TemporaryStore implements AsyncDisposable {
  readonly store: Store;
  readonly directory: string;

  private constructor(store: Store, directory: string) {
    this.store = store;
    this.directory = directory;
  }

  static async open(kind: StoreKind, options: OpenStoreOptions = {}): Promise<TemporaryStore> {
    const directory = await mkdtemp(join(tmpdir(), "cleveragents-test-"));
    const url = kind === "memory" ? "memory:" : `sqlite:${join(directory, "store.db")}`;
    return new TemporaryStore(await openStore(url, options), directory);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store.close();
    await rm(this.directory, { recursive: true, force: true });
  }
}
