/** Real git repositories for tests, untouched by the git settings of the user who runs them. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export function git(directory: string, ...args: string[]): string {
  const identity = ["-c", "user.name=Tester", "-c", "user.email=tester@example.org", "-c", "commit.gpgsign=false"];
  // A commit would start a process that looks whether there is anything to pack.
  const quiet = ["-c", "maintenance.auto=false"];
  return execFileSync("git", ["-C", directory, ...identity, ...quiet, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"], HOME: directory, GIT_CONFIG_NOSYSTEM: "1", LC_ALL: "C" },
  });
}

/** A repository at `directory` with one commit on `main`, and further branches at the same commit. */
export function makeRepository(directory: string, ...branches: string[]): string {
  mkdirSync(directory, { recursive: true });
  git(directory, "init", "--quiet", "--initial-branch=main");
  writeFileSync(join(directory, "README"), "hello\n");
  git(directory, "add", "README");
  git(directory, "commit", "--quiet", "--message=First");
  for (const branch of branches) git(directory, "branch", branch);
  return directory;
}
