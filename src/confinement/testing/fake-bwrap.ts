/** Stands in for bubblewrap: notes how it was called, then runs the command as it is. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fill } from "../../execution/testing/trees.ts";

export class FakeBwrap implements AsyncDisposable {
  readonly #directory: string;
  readonly #path = process.env["PATH"];

  private constructor(directory: string) {
    this.#directory = directory;
    process.env["PATH"] = `${directory}${delimiter}${this.#path}`;
  }

  static async install(): Promise<FakeBwrap> {
    const directory = await mkdtemp(join(tmpdir(), "cleveragents-bwrap-"));
    const note = `printf '%s\\n' "$*" >> '${join(directory, "calls")}'`;
    const script = `#!/bin/sh\n${note}\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n`;
    await fill(directory, { bwrap: { executable: script } });
    return new FakeBwrap(directory);
  }

  async calls(): Promise<string[]> {
    return (await readFile(join(this.#directory, "calls"), "utf8")).trimEnd().split("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.env["PATH"] = this.#path;
    await rm(this.#directory, { recursive: true, force: true });
  }
}
