/** Dependencies, builds and caches of the user's in sandboxes, with each backend that works here. */
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { setCommandPolicy, withOwnCommandPolicy } from "../../../confinement/command-policy.ts";
import { OnlyBackend, workingBackends } from "../../../confinement/testing/backends.ts";
import { carryRulesOf } from "../../../domain/settings/sandbox-settings.ts";
import { ExecutingPlan, step } from "../../testing/executing-plan.ts";
import { fill, type FileSpec } from "../../testing/trees.ts";
import { UserRepository } from "../../testing/user-repository.ts";
import { leftOut } from "../unapplied-files.ts";

const backends = await workingBackends();

const PROJECT = {
  ".gitignore": "node_modules\n.env\n.venv/\ntarget/\ndist/\n",
  "index.js": "module.exports = require('dep');\n",
};
const DEPENDENCY = {
  "node_modules/dep/index.js": "module.exports = 'from dep';\n",
  "node_modules/dep/package.json": "{}\n",
};

async function planOn(tracked: Record<string, FileSpec>, ignored: Record<string, FileSpec>): Promise<ExecutingPlan> {
  const plan = await ExecutingPlan.start({ user: await UserRepository.make(tracked) });
  await fill(plan.user.path, ignored);
  return plan;
}

/** The output of a command that must end well. */
async function output(plan: ExecutingPlan, command: string): Promise<string> {
  const { call, workspace } = await plan.open();
  await using _open = workspace;
  const result = await call("shell_execute", { command });
  return (result as { output: string }).output;
}

describe.skipIf(backends.length === 0).each(backends)("confined by %s", (backend) => {
  test("what git ignores as dependencies is there for commands, and the user's bytes stay as they are", async () => {
    using _only = new OnlyBackend(backend).here();
    await using plan = await planOn(PROJECT, {
      ...DEPENDENCY,
      ".env": "TOKEN=x\n",
      "dist/out.js": "built\n",
      "dist/.env": "TOKEN=x\n",
    });
    const before = await plan.user.fingerprint();
    const times = statSync(join(plan.user.path, "node_modules/dep/index.js"));
    expect(await output(plan, "node -p \"require('./index.js')\"; cat dist/out.js")).toBe("from dep\nbuilt\n");
    expect(await output(plan, "cat .env dist/.env 2>&1; true")).not.toContain("TOKEN");
    const write =
      "(echo evil > node_modules/dep/index.js; echo new > node_modules/new; rm -r node_modules/dep; chmod 777 node_modules) 2>&1; echo more >> dist/out.js; true";
    await plan.run([
      [step("write", "shell_execute", { command: write })],
      [step("look", "shell_execute", { command: "cat dist/out.js > seen.txt" })],
    ]);
    expect(await plan.user.fingerprint()).toEqual(before);
    expect(statSync(join(plan.user.path, "node_modules/dep/index.js")).mtimeMs).toBe(times.mtimeMs);
    const entries = await plan.recorded();
    expect(entries.map(({ operation, path }) => `${operation} ${path}`)).toEqual(["create seen.txt"]);
    expect(await plan.partOfPlan(entries)).toEqual(await plan.replayed(entries));
    // The output of builds can be written, and stays with the sandbox.
    expect((await plan.tree()).get("seen.txt")).toContain("built\nmore\n");
    await plan.takeOver();
    expect(await output(plan, "cat dist/out.js")).toBe("built\nmore\n");
    const executed = { ...plan.lease.plan, phase: "execute", state: "complete" } as const;
    expect(await leftOut(plan.directory, executed, entries)).toEqual([]);
  });

  test("links of a package store resolve, and packages of the workspace are the plan's own", async () => {
    using _only = new OnlyBackend(backend).here();
    const store = "node_modules/.pnpm/dep@1.0.0/node_modules/dep";
    await using plan = await planOn(
      {
        ".gitignore": "node_modules/\n",
        "packages/app/index.js": "module.exports = require('dep') + require('lib');\n",
        "packages/lib/index.js": "module.exports = ' of the user';\n",
      },
      {
        [`${store}/index.js`]: "module.exports = require('deeper');\n",
        "node_modules/.pnpm/deeper@2.0.0/node_modules/deeper/index.js": "module.exports = 'deep';\n",
        "node_modules/.pnpm/dep@1.0.0/node_modules/deeper": { link: "../../deeper@2.0.0/node_modules/deeper" },
        "packages/app/node_modules/dep": { link: `../../../${store}` },
        "packages/app/node_modules/lib": { link: "../../lib" },
      },
    );
    const change = "echo \"module.exports = ' of the plan'\" > packages/lib/index.js";
    expect(await output(plan, `${change}; node -p "require('./packages/app')"`)).toBe("deep of the plan\n");
  });

  test("a program that knows the checkout by its absolute path finds the plan's files", async () => {
    using _only = new OnlyBackend(backend).here();
    const user = await UserRepository.make({ ...PROJECT, "src/own.txt": "of the commit\n" });
    const shebang = `#!${user.path}/.venv/bin/run\n`;
    await fill(user.path, {
      ".venv/bin/run": { executable: '#!/bin/sh\nshift; cat "$(dirname "$0")/../../src/own.txt"\n' },
      ".venv/bin/tool": { executable: shebang },
      "secret.txt": "untracked\n",
    });
    await using plan = await ExecutingPlan.start({ user });
    const command = `echo 'of the plan' > src/own.txt; .venv/bin/run x; cat '${user.path}/src/own.txt'; cat '${user.path}/secret.txt' 2>/dev/null; '${user.path}/.venv/bin/run' x`;
    expect(await output(plan, command)).toBe("of the plan\n".repeat(3));
    expect(await user.git("status", "--porcelain")).toBe("?? secret.txt");
  });

  test("rules of git that change on the way make nothing of it part of the plan", async () => {
    using _only = new OnlyBackend(backend).here();
    await using plan = await planOn(PROJECT, DEPENDENCY);
    await plan.run([
      [step("use", "shell_execute", { command: "test -e node_modules/dep/index.js" })],
      [step("rules", "write_file", { path: ".gitignore", content: "" })],
      [step("again", "shell_execute", { command: "test -e node_modules/dep/index.js; echo x > other" })],
    ]);
    const entries = await plan.recorded();
    expect(entries.map(({ operation, path }) => `${operation} ${path}`)).toEqual(["modify .gitignore", "create other"]);
    expect(await plan.partOfPlan(entries)).toEqual(await plan.replayed(entries));
  });

  test("a link that a command puts in its place is not followed", async () => {
    using _only = new OnlyBackend(backend).here();
    await using plan = await planOn(
      { ".gitignore": "node_modules\n", "a/x": "", "b/x": "" },
      { "node_modules/dep/x": "dep", "a/node_modules/dep/x": "dep", "b/node_modules/dep/x": "dep" },
    );
    const outside = mkdtempSync(join(tmpdir(), "cleveragents-outside-"));
    try {
      await output(plan, "true");
      // A command could do this to places of which nothing is mounted; here it is done from outside.
      for (const name of ["a", "node_modules"]) rmSync(join(plan.root, name), { recursive: true });
      symlinkSync(outside, join(plan.root, "a"));
      symlinkSync(outside, join(plan.root, "node_modules"));
      const seen = await output(plan, "cat b/node_modules/dep/x; ls a node_modules 2>&1; true");
      expect(seen.startsWith("dep")).toBe(true);
      expect(seen).not.toContain("\ndep");
      expect(statSync(outside).nlink).toBe(2);
    } finally {
      rmSync(outside, { recursive: true });
    }
  });

  test("caches of package managers are readable below the command's home, and the keys beside them are not", async () => {
    using _only = new OnlyBackend(backend).here();
    const home = mkdtempSync(join(tmpdir(), "cleveragents-home-"));
    const { HOME } = process.env;
    // A script of npm has the user's cache in its variables.
    const { npm_config_cache: npmCache } = process.env;
    delete process.env["npm_config_cache"];
    const caches = [
      ".npm/_cacache",
      ".cache/pip",
      ".cargo/registry",
      "go/pkg/mod",
      ".m2/repository",
      ".cache/pnpm",
      ".cache/uv",
      ".cache/yarn",
      ".gradle/caches",
    ];
    const keys = [
      ".npmrc",
      ".npm/.npmrc",
      ".cargo/credentials",
      ".cargo/credentials.toml",
      ".m2/settings.xml",
      ".m2/settings-security.xml",
      ".gradle/gradle.properties",
      ".pypirc",
      ".netrc",
      ".config/pip/pip.conf",
      ".yarnrc.yml",
      ".config/go/env",
      ".docker/config.json",
      ".ssh/id_ed25519",
    ];
    try {
      process.env["HOME"] = home;
      await fill(home, {
        ...Object.fromEntries(caches.map((path) => [`${path}/package`, `cached in ${path}\n`])),
        ...Object.fromEntries(keys.map((path) => [path, "canary-77\n"])),
      });
      await using plan = await planOn({ "a.txt": "" }, {});
      expect(await output(plan, caches.map((path) => `cat ~/${path}/package`).join("; "))).toBe(
        caches.map((path) => `cached in ${path}\n`).join(""),
      );
      const places = keys.flatMap((path) => [`~/${path}`, `'${join(home, path)}'`]);
      expect(await output(plan, `cat ${places.join(" ")} 2>&1; grep -rs canary-77 ~ '${home}'; true`)).not.toContain(
        "canary-77",
      );
      await output(
        plan,
        caches
          .map((path) => `echo evil > ~/${path}/package`)
          .join("; ")
          .concat("; true"),
      );
      expect(await output(plan, "echo fine > ~/own && cat ~/own")).toBe("fine\n");
    } finally {
      if (npmCache !== undefined) process.env["npm_config_cache"] = npmCache;
      process.env["HOME"] = HOME;
    }
    for (const path of caches) expect(readFileSync(join(home, path, "package"), "utf8")).toBe(`cached in ${path}\n`);
    rmSync(home, { recursive: true });
  });

  test("a command that the sandbox lacks and the checkout has is told why", async () => {
    using _only = new OnlyBackend(backend).here();
    await withOwnCommandPolicy(async () => {
      setCommandPolicy({ carry: carryRulesOf("none") });
      await using plan = await planOn(PROJECT, {
        ...DEPENDENCY,
        "node_modules/.bin/mocha": { executable: "#!/bin/sh\n" },
      });
      const { call, workspace } = await plan.open();
      await using _open = workspace;
      const failure = async (command: string): Promise<string> => {
        const failed = await call("shell_execute", { command }).catch((error: unknown) => error);
        return JSON.stringify(failed) + String(failed);
      };
      const why =
        "is in the user's checkout, but not in this sandbox: it is not tracked by git, and sandbox.carry does not name it.";
      expect(await failure("node_modules/.bin/mocha")).toContain(`note: node_modules/.bin/mocha ${why}`);
      expect(await failure("PATH=node_modules/.bin:$PATH mocha")).toContain(`note: node_modules/.bin/mocha ${why}`);
      expect(await failure("node index.js")).toContain(`note: node_modules/dep ${why}`);
      expect(await failure("no-such-program")).not.toContain("note:");
    });
  });

  test("the setting says what else comes along, and that nothing does", async () => {
    using _only = new OnlyBackend(backend).here();
    const files = { ...DEPENDENCY, ".env": "TOKEN=x\n", "fixtures/big.bin": "data\n" };
    await withOwnCommandPolicy(async () => {
      setCommandPolicy({ carry: carryRulesOf("default, .env, fixtures") });
      await using plan = await planOn({ ...PROJECT, ".gitignore": "node_modules\n.env\nfixtures/\n" }, files);
      expect(await output(plan, "cat .env fixtures/big.bin; (echo evil > .env) 2>/dev/null; true")).toBe(
        "TOKEN=x\ndata\n",
      );
      expect(await plan.user.git("status", "--porcelain")).toBe("");
    });
    await withOwnCommandPolicy(async () => {
      setCommandPolicy({ carry: carryRulesOf("none") });
      await using plan = await planOn(PROJECT, files);
      expect(await output(plan, "ls node_modules 2>/dev/null; true")).toBe("");
    });
  });
});

test("a directory that is tracked, or only partly ignored, does not come along", async () => {
  await using plan = await planOn(
    { ".gitignore": "vendor/tmp/\n", "vendor/own.txt": "of the commit\n" },
    { "vendor/tmp/x": "ignored\n", "vendor/untracked": "x\n" },
  );
  expect(await output(plan, "ls vendor")).toBe("own.txt\n");
  writeFileSync(join(plan.user.path, "vendor/own.txt"), "changed\n");
  expect(await output(plan, "cat vendor/own.txt")).toBe("of the commit\n");
});
