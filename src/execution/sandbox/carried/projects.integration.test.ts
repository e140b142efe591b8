/** The test command of a project passes in the checkout, and so it passes in a sandbox, with each backend. */
import { execFile } from "node:child_process";
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { OnlyBackend, workingBackends } from "../../../confinement/testing/backends.ts";
import { ExecutingPlan } from "../../testing/executing-plan.ts";
import { UserRepository } from "../../testing/user-repository.ts";
import { sampleProjects } from "./testing/projects.ts";

const FULL = process.env["CLEVERAGENTS_TEST_FULL"] === "1";
const backends = await workingBackends();
const projects = sampleProjects().slice(0, FULL ? undefined : 3);
const cases = backends.flatMap((backend) =>
  projects
    // Where directories are only shown read-only, nothing can be written into them.
    .filter(({ writes = false }) => !writes || backend === "namespaces")
    .map((project) => [project.kind, backend, project] as const),
);

describe.skipIf(cases.length === 0)("the tests pass in a sandbox as in the checkout", () => {
  test.each(cases)("%s, confined by %s", async (_kind, backend, project) => {
    using _only = new OnlyBackend(backend).here();
    const user = await UserRepository.make(project.files);
    await using plan = await ExecutingPlan.start({ user });
    await project.install(user.path);
    await promisify(execFile)("sh", ["-c", project.test], { cwd: user.path, env: { ...process.env, CI: "1" } });
    const [before, status] = [await ignoredFiles(user), await user.git("status", "--porcelain")];
    const { call, workspace } = await plan.open();
    await using _open = workspace;
    expect(await call("shell_execute", { command: project.test })).toMatchObject({ code: 0, confined: true });
    expect(await ignoredFiles(user)).toEqual(before);
    expect(await user.git("status", "--porcelain")).toBe(status);
  });
});

/** The files that git ignores in the user's checkout, with the times at which they were written. */
async function ignoredFiles(user: UserRepository): Promise<string[]> {
  const listed = await user.git("ls-files", "--others", "--ignored", "--exclude-standard");
  return listed
    .split("\n")
    .filter((path) => path !== "")
    .map((path) => `${path} ${lstatSync(join(user.path, path)).mtimeMs}`);
}
