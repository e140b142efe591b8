import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { OnlyBackend, workingBackends } from "../confinement/testing/backends.ts";
import { requireProgram } from "../platform/programs.ts";
import { confinedGit } from "./confined-git.ts";
import { startLaunched } from "../confinement/start.ts";

const backends = await workingBackends();

test.skipIf(backends.length === 0).each(backends)(
  "a filter that our git is made to run sees only the sandbox (%s)",
  async (backend) => {
    using _only = new OnlyBackend(backend).here();
    const directory = mkdtempSync(join(tmpdir(), "cleveragents-git-"));
    try {
      const tree = join(directory, "tree");
      mkdirSync(tree);
      writeFileSync(join(directory, "secret"), "canary");
      execFileSync("git", ["init", "--quiet", tree]);
      const spy = `cat '${directory}/secret'; echo ran > ran; echo x > '${directory}/outside'; cat`;
      execFileSync("git", ["config", "filter.x.clean", spy], { cwd: tree });
      writeFileSync(join(tree, ".gitattributes"), "* filter=x\n");
      const place = {
        cwd: tree,
        writable: [tree],
        objects: undefined,
        environment: { PATH: process.env["PATH"], HOME: directory },
      };
      const run = async (args: readonly string[], input: string): Promise<string> => {
        const child = startLaunched(await confinedGit(requireProgram("git"), args, place), {
          cwd: tree,
          record: undefined,
          input: "pipe",
        });
        child.stdin?.end(input);
        return child.stdout === null ? "" : text(child.stdout);
      };
      const id = (await run(["hash-object", "-w", "--path=a.txt", "--stdin"], "one\n")).trim();
      expect(await run(["cat-file", "-p", id], "")).toBe("one\n");
      expect(existsSync(join(tree, "ran"))).toBe(true);
      expect(existsSync(join(directory, "outside"))).toBe(false);
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
);
