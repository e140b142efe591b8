/** Whether tests can run in a sandbox, as it is told before a plan is executed. */
import { describe, expect, test } from "vitest";
import { workingBackends } from "../../confinement/testing/backends.ts";
import { fill, type FileSpec } from "../testing/trees.ts";
import { UserRepository } from "../testing/user-repository.ts";
import { readinessLine, sandboxAbilities } from "./test-readiness.ts";

const backends = await workingBackends();
const MANIFEST = '{\n  "scripts": { "test": "node --test" },\n  "devDependencies": { "dep": "1" }\n}\n';

async function line(tracked: Record<string, FileSpec>, ignored: Record<string, FileSpec>): Promise<string> {
  await using user = await UserRepository.make({ ".gitignore": "node_modules\ntarget\n.venv\nfixtures\n", ...tracked });
  await fill(user.path, ignored);
  const question = { path: user.path, strategy: "git_worktree", network: "off", requireConfinement: true } as const;
  return readinessLine(await sandboxAbilities(question));
}

describe.skipIf(backends.length === 0)("where commands can be confined", () => {
  test("it says that tests can run, by which command, and what comes along for it", async () => {
    const packages = { "node_modules/a/b/x.js": "", "node_modules/c/x.js": "" };
    expect(await line({ "package.json": MANIFEST }, packages)).toBe(
      "tests: can run (npm test; node_modules comes along, 4 directories)",
    );
    expect(await line({ "package.json": '{"scripts":{"test":"node --test"}}' }, {})).toBe("tests: can run (npm test)");
  });

  test("it says what is missing", async () => {
    expect(await line({ "package.json": MANIFEST }, {})).toBe(
      "tests: cannot run in the sandbox (package.json names packages, and the checkout has no node_modules)",
    );
    expect(await line({ "a.txt": "" }, {})).toBe("tests: cannot run in the sandbox (no test command was found)");
  });

  test("the same is there as data", async () => {
    await using user = await UserRepository.make({ ".gitignore": "node_modules\n", "package.json": MANIFEST });
    await fill(user.path, { "node_modules/a/x.js": "" });
    const question = { path: user.path, strategy: "git_worktree", network: "on", requireConfinement: true } as const;
    expect(await sandboxAbilities(question)).toEqual({
      carried: [{ path: "node_modules", directories: 2, more: false }],
      network: "on",
      checks: [{ purpose: "test", command: "npm test", file: "package.json", line: 2 }],
      tests: { canRun: true },
    });
  });
});
