/**
 * A small task with a known solution. The model begins with a wrong version of it and mends a fault only when something
 * it was shown names the test that the fault breaks.
 */
export interface OracleTask {
  readonly name: string;
  readonly language: "python" | "typescript" | "perl";
  /** The file to be written. */
  readonly path: string;
  readonly solution: string;
  /** The tests, by path. */
  readonly tests: Readonly<Record<string, string>>;
  readonly faults: readonly Fault[];
  readonly habit?: Habit;
}

/** A line of the solution, how it is wrong at first, and the test that shows it. */
export interface Fault {
  readonly right: string;
  readonly wrong: string;
  readonly shownBy: string;
}

/**
 * How the model errs besides. `relies_on_check`: it runs nothing itself. `misremembers`: its edits do not match the
 * file at first. `cut_off`: its first answer is longer than it may be. `wrong_names`: it calls parameters by names that
 * the tools do not have.
 */
export type Habit = "relies_on_check" | "misremembers" | "cut_off" | "wrong_names";

/** The program that runs the tests of a language; `node` and the like as a user has them. */
export const LANGUAGES = {
  python: { command: "python3 -m unittest -v", tool: ["python3", "--version"] },
  typescript: { command: "node --test", tool: ["node", "--version"] },
  perl: { command: "prove -v t", tool: ["prove", "--version"] },
} as const satisfies Record<OracleTask["language"], { command: string; tool: readonly string[] }>;
