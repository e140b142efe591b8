/**
 * Which paths git's rules ignore in a sandbox, whether or not git knows a file there, and whether the project's own
 * rules say so or ours (junk-files.ts). Git reads the rules once, so
 * call `forget` when a `.gitignore` may have changed. Paths must not lead through symbolic links: git stops at those.
 */
import { join } from "node:path";
import { GitDialogue, type Answers } from "../../git/git-dialogue.ts";
import type { GitPlace } from "../../git/own-repository.ts";
import { gitIn } from "./sandbox-facts.ts";

export class IgnoredPaths {
  readonly #place: GitPlace;
  readonly #ours: string | undefined;
  #git: Promise<GitDialogue<string | undefined>> | undefined;

  constructor(sandbox: Parameters<typeof gitIn>[0]) {
    this.#place = gitIn(sandbox);
    const { sandbox: own } = this.#place;
    this.#ours = own === undefined ? undefined : join(own.repository, "info", "exclude");
  }

  async has(path: string): Promise<boolean> {
    return (await this.#ruledBy(path)) !== undefined;
  }

  /** By a rule of the project: no tool writes there. */
  async byProject(path: string): Promise<boolean> {
    const file = await this.#ruledBy(path);
    return file !== undefined && file !== this.#ours;
  }

  /** The file with the rule that ignores the path. */
  async #ruledBy(path: string): Promise<string | undefined> {
    const git = (this.#git ??= GitDialogue.start(QUESTION, this.#place, VERDICTS));
    try {
      // With "./" in front, git does not take a name that begins with ":" for a pattern.
      return await (await git).ask(`./${path}\0`);
    } catch (error) {
      // The next question starts a new one.
      if (this.#git === git) this.#git = undefined;
      throw error;
    }
  }

  /** Ends the git that answers; the next question starts another. */
  async forget(): Promise<void> {
    const git = this.#git;
    this.#git = undefined;
    await (await git)?.[Symbol.asyncDispose]();
  }
}

const QUESTION = ["check-ignore", "--no-index", "--stdin", "-z", "--verbose", "--non-matching"];

/**
 * File of the rule, its line, the rule and the path, each ended by a zero byte; without a rule the first three are
 * empty.
 */
const VERDICTS: Answers<string | undefined> = {
  length: (head) => {
    let end = 0;
    for (let field = 0; field < 4; field += 1) {
      const zero = head.indexOf(0, end);
      if (zero === -1) return undefined;
      end = zero + 1;
    }
    return end;
  },
  read: (answer) => {
    const [file = "", , rule = ""] = answer.toString("utf8").split("\0");
    return rule !== "" && !rule.startsWith("!") ? file : undefined;
  },
};
