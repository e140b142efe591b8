/**
 * The part of the indexes that a reader may see: some trees, and in each the files its policy lets through. A scope is
 * plain data, so that it can be passed to a worker thread; `ScopedIndex` is the only way to read an index and is opened
 * with one, so there is no query without it.
 */
export interface IndexScope {
  readonly trees: readonly IndexedTree[];
}

/** A directory as it was at its last sync. */
export interface IndexedTree {
  /** The name that fragments and queries use for it: the alias of the resource in the project. Unique in a scope. */
  readonly resource: string;
  /** The index's file. */
  readonly index: string;
  /** "" is the directory itself; a sandbox of it is an overlay with a name of its own. */
  readonly overlay: string;
  /** The tree's generation when the scope was made. Opening fails with `IndexMovedError` when it has changed since. */
  readonly generation: number;
  readonly filter: FileFilter;
}

export interface FileFilter {
  /**
   * Glob patterns (`glob.ts`), relative to the root, with `/`. None: everything. Names that begin with a dot are like
   * others.
   */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** In bytes. */
  readonly maxFileSize: number | undefined;
}
