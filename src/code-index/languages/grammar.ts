/**
 * Our knowledge of one language: which node types of its grammar matter and how to read them. The walk
 * (`syntax-tree.ts`) copies only nodes with a role, the extraction (`extract.ts`) asks the grammar for their meaning.
 */
import type { DefinitionKind, Span } from "../model/facts.ts";
import type { SyntaxTree } from "./syntax-tree.ts";

/** The roles of a node type; a type may have several. */
export const ROLE = {
  /** Copied, so that rules can look at it. */
  kept: 1,
  /** All its named children are copied too, with or without a role, so that they can be found by their field. */
  children: 2,
  /** A name that is used, unless a rule claims it. */
  name: 4,
  /** A name that parameters and locals of the same spelling hide. */
  hideable: 8,
  defines: 16,
  /** Names bound inside it are known inside it only. */
  scope: 32,
  /** Code that runs: variables in it are locals, not definitions. */
  runs: 64,
  binds: 128,
  comment: 256,
  /** A decorator, annotation or attribute that may stand before what it belongs to. */
  attribute: 512,
  imports: 1024,
  /** Has no children, and is copied for other roles only. */
  leaf: 2048,
  /** Each name directly in it is a definition: the members of an enumeration. */
  members: 4096,
  /** `a.b`: a name in one of the grammar's member fields is not a plain name, so nothing hides it. */
  qualified: 8192,
  /** Binds names like `binds`, but in the scope around it, being one itself. */
  declares: 16_384,
  /** Nothing inside is read: saves the walk some steps. */
  opaque: 32_768,
} as const;

export interface DefinitionSite {
  readonly name: string;
  /** The node that is the defining occurrence, not a use; -1 when nothing is written. */
  readonly nameNode: number;
  readonly kind: DefinitionKind;
  readonly exported: boolean;
  /** The node that is all of it: itself or what is wrapped around it (`export`, a template). */
  readonly outer: number;
  /** The node it begins with when that is another one: the first of several variables begins with `let`. */
  readonly from?: number | undefined;
  /** Where the body begins; -1 when all of it is signature. */
  readonly bodyStart: number;
  /** When documentation is not a comment before it. */
  readonly doc?: Span | undefined;
  /** The definition it belongs to when it is written outside of it: the receiver of a method. */
  readonly owner?: string | undefined;
  /** Where assigning again does not define again. */
  readonly once?: boolean | undefined;
}

export interface Surroundings {
  /** Whether code around it runs, so that it is local to a function. */
  readonly local: boolean;
  /** The definition it is written in. */
  readonly container: { readonly kind: DefinitionKind; readonly exported: boolean } | undefined;
  /** Notes that rules keep about nodes of this file. */
  readonly notes: Map<number, string>;
}

export interface Grammar {
  /** Name of the grammar's file. */
  readonly file: string;
  readonly roles: Readonly<Record<string, number>>;
  /** In which fields of qualified nodes the member stands. */
  readonly memberFields?: readonly string[];
  /** Comments that describe what they stand in, not what follows. */
  readonly innerComment?: RegExp;
  define(tree: SyntaxTree, node: number, place: Surroundings): DefinitionSite | undefined;
  /** The nodes of the names that are bound here. */
  bind(tree: SyntaxTree, node: number, bound: (nameNode: number) => void): void;
  import(tree: SyntaxTree, node: number, found: (specifier: string) => void): void;
  /** Names that one of the nodes with the role `imports` exports, elsewhere than where they are defined. */
  exportedNames?(tree: SyntaxTree, node: number): readonly string[];
}
