/**
 * The facts of one file's text: its definitions, the names it uses, its imports. Facts are a pure function of language
 * and text, so they are stored by content: the same bytes under another path, on another branch or in a sandbox are
 * never parsed again.
 */
export const LANGUAGES = [
  "typescript",
  "tsx",
  "javascript",
  "python",
  "go",
  "rust",
  "java",
  "cpp",
  "markdown",
  "text",
] as const;
/** `text` is every file we can read but not parse: it is searched, and has neither definitions nor references. */
export type Language = (typeof LANGUAGES)[number];

const DEFINITION_KINDS = [
  "module",
  "class",
  "interface",
  "type",
  "enum",
  "function",
  "method",
  "field",
  "variable",
  "macro",
  "heading",
] as const;
export type DefinitionKind = (typeof DEFINITION_KINDS)[number];

/** A half-open range of UTF-16 offsets into the text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Definition {
  readonly name: string;
  readonly kind: DefinitionKind;
  /** The index, in the same list, of the definition it lies in; undefined at the top. Always a smaller index. */
  readonly container: number | undefined;
  readonly exported: boolean;
  /** All of it with its body: whole lines, counted from 1, both included. A heading's body is its section. */
  readonly startLine: number;
  readonly endLine: number;
  /** Everything up to the body, with decorators and modifiers. */
  readonly signature: Span;
  /** The comment or docstring that describes it. */
  readonly doc: Span | undefined;
}

/** A name that is used, not defined, here. Uses of one name inside one definition are one reference with a count. */
export interface Reference {
  readonly name: string;
  /** The innermost definition that uses it; undefined at the top of the file. */
  readonly within: number | undefined;
  readonly count: number;
  /** Of the first use. */
  readonly line: number;
}

export interface Import {
  /**
   * As it is written: "./lease.ts", "os.path", "crate::store", "<vector>". For Markdown the target of a relative link.
   */
  readonly specifier: string;
  readonly line: number;
}

export interface FileFacts {
  readonly language: Language;
  /** In the order of the text; an outer one comes before what lies in it. */
  readonly definitions: readonly Definition[];
  readonly references: readonly Reference[];
  readonly imports: readonly Import[];
  /** Why the facts may not be all of them, for people ("nested deeper than 200 levels"); undefined when they are. */
  readonly incomplete: string | undefined;
}
