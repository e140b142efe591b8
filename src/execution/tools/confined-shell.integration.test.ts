/**
 * How bubblewrap is called, where there is one. The effect of the call is tested with the real one:
 * confinement.integration.test.ts.
 */
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { bubblewrapArguments } from "../../confinement/bubblewrap.ts";
import { confinementHere } from "../../confinement/availability.ts";
import { setCommandPolicy } from "../../confinement/command-policy.ts";
import { carryRulesOf } from "../../domain/settings/sandbox-settings.ts";
import { ExecutingPlan } from "../testing/executing-plan.ts";
import { FakeBwrap } from "../../confinement/testing/fake-bwrap.ts";

afterEach(() => {
  setCommandPolicy({ carry: carryRulesOf(undefined) });
});

const VIEW = { readable: [], writable: [], hidden: [], cwd: "/", network: false };

test("it is tried with the same limits as commands have, and each command has its own view", async () => {
  await using bwrap = await FakeBwrap.install();
  await using plan = await ExecutingPlan.start();
  // It cannot lay one directory over another; then another backend would confine.
  setCommandPolicy({ carry: carryRulesOf("none") });
  expect(await confinementHere()).toMatchObject({ kind: "bubblewrap" });
  const { call, entries } = await plan.open();
  const result = await call("shell_execute", { command: "echo x > new", cwd: "src" });
  expect(result).toMatchObject({ code: 0, confined: true });
  expect(await entries()).toMatchObject([{ operation: "create", path: "src/new" }]);
  const home = join(plan.root, "..", "home");
  const calls = await bwrap.calls();
  const [probe = ""] = calls;
  // Our own git is confined too, but only a command has a home of its own.
  const call1 = calls.find((line) => line.includes(`--bind ${home} `)) ?? "";
  const repository = join(plan.root, "..", "git");
  const gits = calls.filter((line) => line.includes(`--bind ${repository} ${repository}`));
  expect(gits.length).toBeGreaterThan(0);
  for (const git of gits) expect(git).toContain("--unshare-net");
  const objects = join(plan.user.path, ".git", "objects");
  for (const bind of [`--ro-bind ${objects} ${objects}`, `--bind ${plan.root} ${plan.root}`, `--bind ${home} ${home}`])
    expect(call1).toContain(bind);
  expect(call1).toContain(`--chdir ${plan.root}/src `);
  expect(call1).not.toContain(`bind ${join(plan.root, "..")} `);
  // A container that lets only some of them through would fail every command.
  for (const limit of [
    "--ro-bind /usr /usr",
    "--tmpfs /tmp",
    "--tmpfs /run",
    "--remount-ro /",
    "--cap-drop ALL",
    "--unshare-net",
    "--unshare-ipc",
    "--unshare-pid",
    "--proc /proc",
    "--die-with-parent",
  ]) {
    expect(probe).toContain(limit);
    expect(call1).toContain(limit);
  }
});

test("the network is there when it is allowed", () => {
  expect(bubblewrapArguments({ ...VIEW, network: "open" })).not.toContain("--unshare-net");
});
