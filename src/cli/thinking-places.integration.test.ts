/** Where models may work and who they are: in place, side by side, with other models, with less than all tools. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { UNSAFE } from "./testing/in-place.ts";
import { ACTION, stepTurn, strategyTurn, ThinkingWorld, turn } from "./testing/thinking-world.ts";

const write = (path: string, content = "x\n"): object => ({ tool: "write_file", parameters: { path, content } });

test("in place each call of a model lands at once; a call that fails leaves nothing, and no command is offered", async () => {
  using world = new ThinkingWorld();
  const { agents, repository } = world;
  world.resource = [...world.resource, "--sandbox", "none"];
  const first = [
    strategyTurn([{ id: "one", description: "Write" }]),
    stepTurn("one", {
      tool_calls: [
        write("docs/new.txt", "new\n"),
        { tool: "shell_execute", parameters: { command: "rm -rf docs" } },
        { tool: "edit_file", parameters: { path: "a.txt", old: "nowhere", new: "x" } },
      ],
    }),
  ];
  world.script(...first, stepTurn("one", { match: { tool: "edit_file" }, error: "authentication", times: "always" }));
  const id = await world.thinking(ACTION, ...UNSAFE);
  expect((await agents.json("plan", "execute", id)).error?.code).toBe("MODEL_AUTHENTICATION");
  expect(readFileSync(join(repository, "docs/new.txt"), "utf8")).toBe("new\n");
  world.script(
    ...first,
    stepTurn("one", { match: { result: "does not contain" }, tool_calls: [write("b.txt")] }),
    stepTurn("one", { match: { tool: "write_file" }, text: "done" }),
  );
  expect((await agents.json("plan", "execute", id)).exit_code).toBe(0);
  expect(readFileSync(join(repository, "b.txt"), "utf8")).toBe("x\n");
  const { data } = await agents.json("plan", "diff", id);
  expect(data["files"]).toMatchObject([{ path: "b.txt" }, { path: "docs/new.txt" }]);
  const tree = await agents.json("plan", "tree", id);
  const ids = tree.data["decision_ids"] as Record<string, string>;
  expect((await agents.json("plan", "explain", String(ids["one.2"]))).data["decision"]).toMatchObject({
    type: "error_recovery",
    question: "A tool failed. What now?",
  });
  const shown = (await agents.run(["plan", "explain", String(ids["one.1"]), "--show-context"])).stdout;
  expect(shown).not.toContain("shell_execute");
  expect((await agents.json("plan", "undo", id, "--yes")).exit_code).toBe(0);
  expect(world.git("status", "--porcelain")).toBe("");
});

test("steps that need nothing of each other are worked on side by side; one of them can be undone alone", async () => {
  using world = new ThinkingWorld();
  const { agents } = world;
  const step = (id: string): string =>
    stepTurn(id, { tool_calls: [write(`${id}.txt`)] }) +
    stepTurn(id, { match: { tool: "write_file" }, text: `${id}!` });
  const both = ["left", "right"].map((id) => ({ id, description: `Write ${id}.txt` }));
  const last = { id: "last", description: "Look", needs: ["left", "right"] };
  world.script(
    strategyTurn([...both, last]),
    step("left"),
    step("right"),
    stepTurn("last", { text: "Nothing to do: both are there." }),
  );
  const id = await world.thinking();
  expect((await agents.json("plan", "execute", id)).exit_code).toBe(0);
  expect((await agents.json("plan", "apply", id, "--yes")).exit_code).toBe(0);
  expect((await agents.json("plan", "undo", id, "--decision", "left", "--yes")).exit_code).toBe(0);
  expect(world.git("ls-files")).toContain("right.txt");
  expect(world.git("ls-files")).not.toContain("left.txt");
});

test("one model decides, another one works; both are only named", async () => {
  using world = new ThinkingWorld();
  const { agents } = world;
  world.script(turn({ error: "authentication", times: "always" }));
  agents.write("chief.yaml", `turns:\n${strategyTurn([{ id: "one", description: "Look around" }])}`);
  agents.write(
    "hand.yaml",
    `turns:\n${stepTurn("one", { tool_calls: [write("x.txt")] })}${turn({ match: { tool: "write_file" }, text: "It does not let me." })}`,
  );
  const actors = "execution_actor: scripted/hand.yaml\nstrategy_actor: scripted/chief.yaml\nread_only: true";
  const id = await world.thinking(ACTION.replace("execution_actor: scripted/demo.yaml", actors));
  const { data } = await agents.json("plan", "execute", id);
  expect(data).toMatchObject({ state: "complete", changes: { files: 0 } });
  // A tool that writes is not offered in a plan that may not write, and cannot be called.
  const ids = (await agents.json("plan", "tree", id)).data["decision_ids"] as Record<string, string>;
  const seen = JSON.parse((await agents.run(["plan", "explain", String(ids["one.2"]), "--show-context"])).stdout) as {
    messages: { output?: string }[];
    tools: { name: string }[];
  };
  expect(seen.tools.map(({ name }) => name)).not.toContain("write_file");
  expect(seen.messages.at(-1)?.output).toContain('There is no tool "write_file"');
});

test("who is not there is said before anything is done", async () => {
  using world = new ThinkingWorld();
  const { agents } = world;
  await world.thinking(ACTION);
  for (const actor of ["local/unknown", "acme/gpt-9.9"])
    await expect(world.anotherThought("--execution-actor", actor)).rejects.toThrow(`no actor "${actor}"`);
  await agents.json("config", "set", "provider.acme.base-url", "http://127.0.0.1:9/v1");
  const other = await world.anotherThought("--execution-actor", "acme/gpt-9.9");
  writeFileSync(join(agents.dataDir, "config.yaml"), "");
  const failed = await agents.json("plan", "execute", other);
  expect(failed).toMatchObject({
    exit_code: 1,
    error: { code: "CONFIGURATION", message: expect.stringContaining('"acme" is not configured') },
  });
});
