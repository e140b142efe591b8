/** A directory and its index, both gone after the test. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { indexFileFor } from "../index/index-database.ts";
import { type IndexStatus, indexStatus } from "../index/index-status.ts";
import type { FileFilter, IndexedTree } from "../model/index-scope.ts";
import { openScopedIndex } from "../search/open-scoped-index.ts";
import type { ScopedIndex } from "../model/scoped-index.ts";
import { syncIndex, type SyncOptions, type SyncResult } from "../sync/sync-index.ts";

export const EVERYTHING: FileFilter = { include: [], exclude: [], maxFileSize: undefined };

export class IndexedDirectory implements Disposable {
  readonly home: string;
  readonly root: string;
  readonly indexFile: string;

  constructor(files: Readonly<Record<string, string | Uint8Array>> = {}) {
    this.home = realpathSync(mkdtempSync(join(tmpdir(), "cleveragents-index-")));
    this.root = join(this.home, "root");
    mkdirSync(this.root);
    this.indexFile = indexFileFor(join(this.home, "data"), this.root);
    for (const [path, text] of Object.entries(files)) this.write(path, text);
  }

  write(path: string, text: string | Uint8Array, root: string = this.root): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }

  sync(options: Partial<SyncOptions> = {}): Promise<SyncResult> {
    return syncIndex({ indexFile: this.indexFile, root: this.root, ...options });
  }

  status(): IndexStatus {
    return indexStatus(this.indexFile);
  }

  tree(generation: number, tree: Partial<IndexedTree> = {}): IndexedTree {
    return { resource: "app", index: this.indexFile, overlay: "", generation, filter: EVERYTHING, ...tree };
  }

  /** Brings it up to date and opens it. */
  async open(filter: Partial<FileFilter> = {}, options: Partial<SyncOptions> = {}): Promise<ScopedIndex> {
    const { generation } = await this.sync(options);
    const overlay = options.overlay?.name ?? "";
    return openScopedIndex({ trees: [this.tree(generation, { overlay, filter: { ...EVERYTHING, ...filter } })] });
  }

  [Symbol.dispose](): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** Everything that can be read from an index, in a form that can be compared. */
export function everythingIn(index: ScopedIndex): unknown {
  const files = index.files();
  return {
    gaps: index.gaps(),
    graph: index.graph(),
    files: files.map((file) => ({
      file,
      text: index.text(file),
      definitions: index.definitionsIn(file),
      references: index.referencesIn(file),
      imports: index.importsOf(file).map(({ path }) => path),
      importers: index.importersOf(file).map(({ path }) => path),
      found: index.searchText([file.path, ...index.definitionsIn(file).map(({ name }) => name)], 20),
      named: index.definitionsIn(file).flatMap(({ name }) => index.definitionsNamed(name)),
      searched: index.definitionsIn(file).map(({ name }) => index.searchDefinitions([name], 10)),
      used: index.referencesIn(file).flatMap(({ name }) => index.referencesTo(name)),
    })),
  };
}
