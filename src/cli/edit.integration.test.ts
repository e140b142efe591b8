/** The user's own editor, started on the terminal of the command. */
import { expect, test } from "vitest";
import { Agents } from "./testing/agents.ts";
import { noTerminal } from "./testing/pseudo-terminal.ts";

test.skipIf(noTerminal() !== undefined)("the editor of the environment has the terminal and the file", async () => {
  using agents = new Agents();
  agents.write("actor.yaml", "name: greeter\ntype: tool\ndescription: Greets\nsteps: [{ tool: git_status }]\n");
  await agents.json("actor", "add", "--config", "actor.yaml");
  const terminal = { columns: 200, rows: 24 };
  const env = { VISUAL: "test -t 0 && sed -i s/Greets/Hello/", EDITOR: "false" };
  const edited = await agents.process(["edit", "actor", "greeter"], { terminal, env });
  expect(edited.stdout).toContain("local/greeter was replaced.");
  const { VISUAL: _, ...failing } = env;
  const failed = await agents.process(["edit", "actor", "greeter"], { terminal, env: failing });
  expect([failed.code, failed.stdout]).toEqual([2, expect.stringContaining("The editor could not be started")]);
  expect((await agents.json("actor", "show", "greeter")).data).toMatchObject({
    actor_details: { description: "Hello", version: 2 },
  });
});
