/**
 * What somebody may see of the indexes: some trees, and in each what its policy lets through. A scope is plain data, so that it can be
 * handed to a worker thread; `ScopedIndex` is the only way to read an index and is opened with one, so there is no query without it.
 */
export interface IndexScope {
  readonly trees: readonly IndexedTree[];
}

/** A directory as it was when it was last looked at. */
export interface IndexedTree {
  /** What fragments and queries call it: the alias of the resource in the project. Unique in a scope. */
  readonly resource: string;
  /** The index's file. */
  readonly index: string;
  /** "" is the directory itself; a sandbox of it is an overlay with a name of its own. */
  readonly overlay: string;
  /** Of the tree when the scope was made. Opening fails with `IndexMovedError` when it is another one by now. */
  readonly generation: number;
  readonly filter: FileFilter;
}

export interface FileFilter {
  /** Glob patterns (`glob.ts`), relative to the root, with `/`. None: everything. Names that begin with a dot are like others. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** In bytes. */
  readonly maxFileSize: number | undefined;
}
