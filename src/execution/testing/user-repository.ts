/** A user's git checkout in a temporary directory, and everything about it that must stay as it is. */
import { execFile } from "node:child_process";
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { fill, readTree, type FileSpec, type Tree } from "./trees.ts";

/** Names and contents that are easily damaged on the way. */
export const AWKWARD_FILES: Readonly<Record<string, FileSpec>> = {
  ".gitignore": "ignored/\n*.log\n*.out\n",
  "a.txt": "one\ntwo\nthree\n",
  "crlf.txt": "one\r\ntwo\r\n",
  "bom.txt": "\uFEFFone\ntwo\n",
  "no-newline.txt": "end",
  "empty.txt": "",
  "binary.bin": Uint8Array.from({ length: 300 }, (_, index) => index % 256),
  "latin1.txt": Buffer.from("caf\u00e9\n", "latin1"),
  "with space/häß 文.txt": "unicode\n",
  "script.sh": { executable: "#!/bin/sh\necho hi\n" },
  link: { link: "a.txt" },
  "link-out": { link: "/etc" },
  "src/deep/er/x.ts": "export const x = 1;\n",
  "src/deep/y.ts": "export const y = 1;\n",
  "src/z.ts": "export const z = 1;\n",
};

const SETTINGS = `[user]
	name = User
	email = user@example.com
[core]
	autocrlf = false
[maintenance]
	auto = false
`;

export class UserRepository implements AsyncDisposable {
  /** Removed at the end, with the checkout in it. */
  readonly directory: string;
  readonly path: string;

  private constructor(directory: string) {
    this.directory = directory;
    this.path = join(directory, "checkout");
  }

  static async make(files: Readonly<Record<string, FileSpec>> = AWKWARD_FILES): Promise<UserRepository> {
    const repository = new UserRepository(await mkdtemp(join(tmpdir(), "cleveragents-user-")));
    await mkdir(repository.path);
    await repository.git("init", "--quiet", "--initial-branch=main");
    // Written at once: a git for each setting takes longer than most tests.
    await appendFile(join(repository.path, ".git", "config"), SETTINGS);
    if (Object.keys(files).length > 0) await repository.commit(files);
    return repository;
  }

  async commit(files: Readonly<Record<string, FileSpec>>): Promise<string> {
    await fill(this.path, files);
    await this.git("add", "--all");
    await this.git("commit", "--quiet", "--message=work");
    return this.git("rev-parse", "HEAD");
  }

  async git(...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)("git", args, { cwd: this.path });
    return stdout.trimEnd();
  }

  /** All that is the user's: refs but our own, settings, HEAD, index, hooks, status and every byte of the tree. */
  async fingerprint(): Promise<Readonly<Record<string, unknown>>> {
    const inGit = (name: string): Promise<string> => readFile(join(this.path, ".git", name), "latin1");
    const refs = (await this.git("for-each-ref")).split("\n").filter((line) => !line.includes("refs/cleveragents/"));
    const tree: Tree = await readTree(this.path);
    return {
      refs,
      config: await inGit("config"),
      head: await inGit("HEAD"),
      index: await inGit("index").catch(() => "none"),
      hooks: await readdir(join(this.path, ".git", "hooks")),
      worktrees: await this.git("worktree", "list", "--porcelain"),
      stash: await this.git("stash", "list"),
      status: await this.git("--no-optional-locks", "status", "--porcelain"),
      tree: [...tree],
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }
}
