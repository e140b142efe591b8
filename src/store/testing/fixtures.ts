/** Stores for tests: in memory, or in a directory that is removed afterwards. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type OpenStoreOptions } from "../sqlite/open-store.ts";
import { makeDatabase } from "./postgres-databases.ts";
import type { ServerKind } from "./postgres-server.ts";
import type { Store } from "../port.ts";

export class TestDirectory implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async make(): Promise<TestDirectory> {
    return new TestDirectory(await mkdtemp(join(tmpdir(), "cleveragents-store-")));
  }

  file(name = "store.db"): string {
    return join(this.path, name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

/** A store with any number of handles on it; all are closed in the end. */
export class StoreFixture implements AsyncDisposable {
  readonly store: Store;
  readonly #others: Store[] = [];
  readonly #cleanUp: () => Promise<void>;

  constructor(store: Store, cleanUp: () => Promise<void> = async () => undefined) {
    this.store = store;
    this.#cleanUp = cleanUp;
  }

  static async memory(): Promise<StoreFixture> {
    return new StoreFixture(await openStore("memory:"));
  }

  static async file(options: OpenStoreOptions = {}): Promise<StoreFixture> {
    const directory = await TestDirectory.make();
    const store = await openStore(`sqlite:${directory.file()}`, options);
    return new StoreFixture(store, () => directory[Symbol.asyncDispose]());
  }

  /** In a database of its own on a test server of this kind. */
  static async postgres(kind: ServerKind, options: OpenStoreOptions = {}): Promise<StoreFixture> {
    const database = await makeDatabase(kind);
    return new StoreFixture(await openStore(database.url, options), async () => database[Symbol.asyncDispose]());
  }

  /** Another handle on the same store. */
  async again(options: OpenStoreOptions = {}): Promise<Store> {
    const store = await openStore(this.store.url, options);
    this.#others.push(store);
    return store;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      for (const store of [...this.#others, this.store]) await store.close();
    } finally {
      await this.#cleanUp();
    }
  }
}

/** A promise of an error: what `work` is rejected with. */
export async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    (value) => new Error(`Nothing failed; the result is ${JSON.stringify(value)}.`),
    (error: unknown) => error,
  );
}

/** Rejects when `work` is still pending after a while far beyond anything it needs: a hung store, not a slow one. */
export async function notHung<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("It never settled.")), 5_000);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
