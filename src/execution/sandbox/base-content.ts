/**
 * The files of a sandbox as they were when the plan began: in the commit it started from, or in the copy that is kept
 * beside the sandbox.
 */
import { join } from "node:path";
import { worksInPlace } from "../../domain/resource/resource.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import { shown } from "../../domain/text/text.ts";
import { EXECUTABLE, LINK, readState, REGULAR, type FileState } from "../../platform/file-state.ts";
import { git } from "../../git/git.ts";
import { GitDialogue, type Answers } from "../../git/git-dialogue.ts";
import { gitIn, isVersioned } from "./sandbox-facts.ts";
import type { Sandbox } from "./sandbox.ts";

export class BaseContent {
  readonly #sandbox: Sandbox;
  #listing: Promise<BaseListing> | undefined;
  #git: Promise<GitDialogue<Buffer | undefined>> | undefined;

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  /**
   * Read once: a commit does not change. Of a copy nothing is listed; in place, what git knows there when it is first
   * asked.
   */
  listing(): Promise<BaseListing> {
    const { base } = this.#sandbox;
    const listed = base !== undefined || (worksInPlace(this.#sandbox) && isVersioned(this.#sandbox));
    this.#listing ??= listed ? list(this.#sandbox, base) : Promise.resolve(NOTHING);
    return this.#listing;
  }

  async state(path: string): Promise<FileState | undefined> {
    const { root, base } = this.#sandbox;
    if (base === undefined) return readState(join(root, "..", "base"), path);
    const file = (await this.listing()).files.get(path);
    if (file === undefined) return undefined;
    this.#git ??= GitDialogue.start(["cat-file", "--batch"], gitIn(this.#sandbox), BLOBS);
    const content = await (await this.#git).ask(`${file.object}\n`);
    if (content === undefined) {
      throw new AgentsError("git_failed", `The commit ${base} has lost its content of ${shown(path)}.`, {
        kept: "Nothing of yours was changed.",
        next: [{ text: "git fsck" }],
        detail: { path, object: file.object },
      });
    }
    return { content, mode: file.mode };
  }

  /** Ends the git that answers; the next question starts another. */
  async close(): Promise<void> {
    const git = this.#git;
    this.#git = undefined;
    await (await git)?.[Symbol.asyncDispose]();
  }
}

interface BaseListing {
  readonly files: ReadonlyMap<string, { readonly mode: number; readonly object: string }>;
  /** Where the commit points at commits of other repositories. */
  readonly submodules: readonly string[];
}

const NOTHING: BaseListing = { files: new Map(), submodules: [] };

/** Without a base the index is listed: only the order of the words before the name is another one. */
async function list(sandbox: Sandbox, base: string | undefined): Promise<BaseListing> {
  const asked = base === undefined ? ["ls-files", "-s", "-z"] : ["ls-tree", "-r", "-z", "--full-tree", base];
  const { stdout } = await git(asked, gitIn(sandbox));
  const files = new Map<string, { mode: number; object: string }>();
  const submodules: string[] = [];
  for (const line of stdout.toString("utf8").split("\0")) {
    const tab = line.indexOf("\t");
    const [mode = "", second = "", third = ""] = line.slice(0, tab).split(" ");
    const path = line.slice(tab + 1);
    if (mode === "160000") submodules.push(path);
    if (!mode.startsWith("10") && mode !== "120000") continue;
    const object = base === undefined ? second : third;
    files.set(path, { object, mode: mode === "120000" ? LINK : mode === "100755" ? EXECUTABLE : REGULAR });
  }
  return { files, submodules };
}

/** A line `<object> <type> <size>`, then the bytes and a line end; or only a line that says it is missing. */
const BLOBS: Answers<Buffer | undefined> = {
  length: (head) => {
    const end = head.indexOf("\n") + 1;
    if (end === 0) return undefined;
    const size = sizeIn(head.subarray(0, end));
    return size === undefined ? end : end + size + 1;
  },
  read: (answer) => (sizeIn(answer) === undefined ? undefined : answer.subarray(answer.indexOf("\n") + 1, -1)),
};

function sizeIn(answer: Buffer): number | undefined {
  const size = /^\S+ blob (\d+)\n/.exec(answer.subarray(0, 200).toString("latin1"))?.[1];
  return size === undefined ? undefined : Number(size);
}
