/** Whether a confined command reaches the network is a matter of the plan's automation profile. */
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { World } from "./testing/world.ts";

test("the network is closed to commands, hooks and validations unless the plan's profile holds nothing back", async () => {
  using world = new World();
  const { agents } = world;
  const notes = join(agents.directory, "calls");
  // Stands in for bubblewrap: notes how it was called, then runs the command as it is.
  agents.write("bwrap", `#!/bin/sh\necho "$*" >> '${notes}'\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n`);
  chmodSync(join(agents.directory, "bwrap"), 0o755);
  writeFileSync(join(world.repository, ".git", "hooks", "pre-commit"), "#!/bin/sh\nexit 0\n");
  chmodSync(join(world.repository, ".git", "hooks", "pre-commit"), 0o755);
  agents.inOwnProcess({ PATH: `${agents.directory}:${process.env["PATH"]}` });
  // It cannot lay one directory over another; then another backend would confine.
  agents.environment["CLEVERAGENTS_SANDBOX_CARRY"] = "none";
  const steps = `  - { id: net, tool: shell_execute, params: { command: "echo x > net.txt" } }\n`;
  const closed = await world.plan(steps);
  agents.write("check.yaml", "name: check\ndescription: checks\ncommand: 'true'\n");
  await agents.json("validation", "add", "--config", "check.yaml");
  await agents.json("validation", "attach", "api", "check");
  const calls = async (id: string): Promise<boolean[]> => {
    writeFileSync(notes, "");
    expect((await agents.json("plan", "execute", id)).exit_code).toBe(0);
    // Our own git is confined too, and never reaches the network; only a command has a home of its own.
    const own = readFileSync(notes, "utf8")
      .split("\n")
      .filter((call) => call.includes("/api/home "));
    return own.map((call) => !call.includes("--unshare-net"));
  };
  expect((await agents.json("plan", "status", closed)).data["confined"]).toBe(true);
  expect(await calls(closed)).toEqual([false, false, false]);
  const use = ["plan", "use", "greet", "shop", "--arg", "who=world", "--automation-profile", "full-auto"];
  const { data } = await agents.json(...use);
  expect(await calls(String(data["plan_id"]))).toEqual([true, true, true]);
});
