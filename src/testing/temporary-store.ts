/** Stores for tests: a new one each time, gone with everything it wrote when its scope ends. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type OpenStoreOptions } from "../store/sqlite/open-store.ts";
import { makeDatabase, type TestDatabase } from "../store/testing/postgres-databases.ts";
import { missingServer } from "../store/testing/postgres-server.ts";
import type { Store } from "../store/port.ts";

export type StoreKind = "memory" | "file" | "postgres";

export const STORE_KINDS = ["memory", "file"] as const satisfies readonly StoreKind[];

/** For tests of what several do at once: PostgreSQL too, where it can be started (see `missingServer`). */
export const RACE_KINDS: readonly StoreKind[] = [...STORE_KINDS, ...wherePostgresRuns<StoreKind>("postgres")];

/** These, where the packaged PostgreSQL can be started; the conformance suite says the reason where it cannot. */
export function wherePostgresRuns<T>(...cases: readonly T[]): readonly T[] {
  return missingServer("packaged") === undefined ? cases : [];
}

export class TemporaryStore implements AsyncDisposable {
  readonly store: Store;
  readonly directory: string;
  readonly #database: TestDatabase | undefined;

  private constructor(store: Store, directory: string, database: TestDatabase | undefined) {
    this.store = store;
    this.directory = directory;
    this.#database = database;
  }

  static async open(kind: StoreKind, options: OpenStoreOptions = {}): Promise<TemporaryStore> {
    const directory = await mkdtemp(join(tmpdir(), "cleveragents-test-"));
    const database = kind === "postgres" ? await makeDatabase("packaged") : undefined;
    const url = database?.url ?? (kind === "memory" ? "memory:" : `sqlite:${join(directory, "store.db")}`);
    return new TemporaryStore(await openStore(url, options), directory, database);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store.close();
    await this.#database?.[Symbol.asyncDispose]();
    await rm(this.directory, { recursive: true, force: true });
  }
}
