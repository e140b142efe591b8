import type { FileFilter } from "../../code-index/model/index-scope.ts";
import {
  CONTEXT_VIEWS,
  DEFAULT_MAX_FILE_SIZE,
  resolveView,
  type ContextPolicy,
  type ResolvedView,
} from "../../domain/context/context-policy.ts";
import { rootedGlobs } from "../../domain/context/glob-rules.ts";
import type { ReadTree } from "../../execution/sandbox/sandbox-facts.ts";

/** The directories that context is taken from. */
export interface ContextPlace {
  /** Its name: the alias of the resource. */
  readonly resource: string;
  /** The resource's own directory. The index belongs to it. */
  readonly root: string;
  /** A sandbox of it, to be shown instead. */
  readonly sandbox: SandboxPlace | undefined;
  readonly filter: FileFilter;
  /** Larger files are not even indexed. In bytes. */
  readonly indexedSize: number;
}

interface SandboxPlace {
  /** Of its tree in the index. */
  readonly name: string;
  /** Runs `read` while nothing changes the sandbox. */
  readonly reading: <T>(look: (tree: ReadTree) => Promise<T>) => Promise<T>;
}

export function filterOf(view: ResolvedView): FileFilter {
  return { include: rootedGlobs(view.include), exclude: rootedGlobs(view.exclude), maxFileSize: view.maxFileSize };
}

/** The largest limit of any view: an index that was made for one view serves the others too. */
export function indexedSize(policy: ContextPolicy): number {
  const limits = CONTEXT_VIEWS.map((view) => resolveView(policy, view).maxFileSize ?? Number.MAX_SAFE_INTEGER);
  return Math.max(DEFAULT_MAX_FILE_SIZE, ...limits);
}
