/** A hook of the user's repository that needs installed packages runs in the sandbox as it would in the checkout. */
import { expect, test } from "vitest";
import { OnlyBackend, workingBackends } from "../../confinement/testing/backends.ts";
import { tellNothing } from "../../domain/run-event.ts";
import { decided } from "../testing/decide.ts";
import { ExecutingPlan, step } from "../testing/executing-plan.ts";
import { fill } from "../testing/trees.ts";
import { UserRepository } from "../testing/user-repository.ts";
import { runToolSteps } from "../steps/step-runner.ts";
import { runHooks } from "./hooks.ts";

const backends = await workingBackends();

test.skipIf(backends.length === 0).each(backends)(
  "confined by %s, with a formatter of node_modules",
  async (backend) => {
    using _only = new OnlyBackend(backend).here();
    const user = await UserRepository.make({ ".gitignore": "node_modules\n", "a.txt": "one\n" });
    await using plan = await ExecutingPlan.start({ user });
    await fill(user.path, {
      "node_modules/.bin/format": { executable: "#!/bin/sh\ntr a-z A-Z < new.txt > x && cat x > new.txt && rm x\n" },
      ".git/hooks/pre-commit": { executable: "#!/bin/sh\nnode_modules/.bin/format\n" },
    });
    const before = await user.fingerprint();
    const { signal } = new AbortController();
    const waves = await decided(plan.lease, [[step("write", "write_file", { path: "new.txt", content: "quiet\n" })]]);
    const parts = { lease: plan.lease, signal, tell: tellNothing };
    await using opened = await runToolSteps({ ...parts, directory: plan.directory, targets: [plan.target], waves });
    await runHooks({ ...parts, ...opened, verify: true, round: 0 });
    const entries = await plan.recorded();
    expect(entries.map(({ operation, path }) => `${operation} ${path}`)).toEqual(["create new.txt", "modify new.txt"]);
    expect((await plan.replayed(entries)).get("new.txt")).toContain("QUIET");
    expect(await user.fingerprint()).toEqual(before);
  },
);
