/** Commands are confined where bubblewrap works. This file has a process of its own: whether it does is found out once. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { canConfine, confined } from "../bubblewrap.ts";
import { ExecutingPlan } from "../testing/executing-plan.ts";
import { FakeBwrap } from "../testing/fake-bwrap.ts";

test("only the tree and a home are writable, without network; what is kept beside them is not", async () => {
  await using bwrap = await FakeBwrap.install();
  await using plan = await ExecutingPlan.start();
  expect(await canConfine()).toBe(true);
  const { call, entries } = await plan.open();
  const result = await call("shell_execute", { command: "echo x > new; pwd", cwd: "src" });
  expect(result).toMatchObject({ code: 0, confined: true, output: `${plan.root}/src\n` });
  expect(await entries()).toMatchObject([{ operation: "create", path: "src/new" }]);
  const [probe = "", call1 = ""] = await bwrap.calls();
  const home = join(plan.root, "..", "home");
  const objects = join(plan.user.path, ".git", "objects");
  const binds = `--ro-bind-try ${objects} ${objects} --bind ${plan.root} ${plan.root} --bind ${home} ${home} --cap-drop`;
  expect(call1).toContain(binds);
  expect(call1).toContain(`--chdir ${plan.root}/src -- sh`);
  expect(call1).not.toContain(`--bind ${join(plan.root, "..")} `);
  // Tried with the same limits, or a container that lets only some of them through would fail every command.
  for (const limit of [
    "--ro-bind / /",
    "--tmpfs /tmp",
    "--tmpfs /run",
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
  expect(confined(["x"], { readable: [], writable: [], cwd: "/", network: true })).not.toContain("--unshare-net");
});

test("what may be read is bound before what may be written, which can lie in it", () => {
  const line = confined(["x"], { readable: ["/tmp/hooks"], writable: ["/tmp/hooks/w"], cwd: "/", network: false });
  expect(line.join(" ")).toMatch(
    /--tmpfs \/tmp .*--ro-bind-try \/tmp\/hooks \/tmp\/hooks --bind \/tmp\/hooks\/w \/tmp\/hooks\/w/,
  );
});
