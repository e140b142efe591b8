/**
 * Finds where a text is not valid in its language. This room does not know how code is parsed: the code that starts the
 * execution passes an implementation in.
 */
interface SyntaxProblem {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

/** Undefined for a text that cannot be judged: of an unknown language, or too costly to parse. */
export type SyntaxCheck = (path: string, text: string) => Promise<readonly SyntaxProblem[] | undefined>;
