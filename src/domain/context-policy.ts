/**
 * What the models of a project may see, by view. A view that leaves a setting out takes it from the one before it: default, then
 * strategize, execute, apply. Limits are on unless somebody lifts them.
 */
export const CONTEXT_VIEWS = ["default", "strategize", "execute", "apply"] as const;
export type ContextView = (typeof CONTEXT_VIEWS)[number];

/** What one view sets itself; null lifts a limit, undefined inherits. */
export interface ViewPolicy {
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  /** In bytes. */
  readonly maxFileSize?: number | null | undefined;
  readonly maxTotalSize?: number | null | undefined;
  readonly maxFiles?: number | null | undefined;
  /** Names of the strategies that may be selected. */
  readonly strategies?: readonly string[] | undefined;
  /** Tokens for the context. */
  readonly budget?: number | undefined;
}

export type ContextPolicy = Readonly<Partial<Record<ContextView, ViewPolicy>>>;

/** A view with everything settled, and which view each setting is from ("built in" for what nobody set). */
export interface ResolvedView {
  readonly view: ContextView;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly maxFileSize: number | undefined;
  readonly maxTotalSize: number | undefined;
  readonly maxFiles: number | undefined;
  readonly strategies: readonly string[] | undefined;
  readonly budget: number | undefined;
  readonly from: Readonly<Record<keyof ViewPolicy, ContextView | "built in">>;
}

export const DEFAULT_MAX_FILE_SIZE = 1_048_576;
export const DEFAULT_MAX_TOTAL_SIZE = 52_428_800;

/** The chain a view inherits along, itself first. */
export function viewChain(view: ContextView): readonly ContextView[] {
  return CONTEXT_VIEWS.slice(0, CONTEXT_VIEWS.indexOf(view) + 1).toReversed();
}
