/**
 * The loop between a model and the code, from outside: a request in a real repository, a scripted model, the real
 * store. The text that the model was shown is read back from the record.
 */
import { expect, test } from "vitest";
import { AwaitingInputError } from "../domain/errors/errors.ts";
import { git } from "../testing/git-repository.ts";
import { calls, LoopWorld, step, strategy, type Shown } from "./testing/loop-world.ts";

const FIX = { id: "fix", description: "Fix it" };

test("it looks, decides and works in one conversation; its prefix stays the same bytes", async () => {
  await using world = new LoopWorld();
  world.script(
    { match: { user: "Decide" }, ...calls("read_file", { path: "a.txt" }) },
    {
      match: { tool: "read_file" },
      ...calls("record_strategy", { steps: [FIX, { id: "note", description: "Note it", needs: ["fix"] }] }),
    },
    step("fix", calls("edit_file", { path: "a.txt", old: "two", new: "2" })),
    step("fix", { match: { tool: "edit_file" }, ...calls("step_done", { summary: "Two is 2 now." }) }),
    step("note", { ...calls("write_file", { path: "note.txt", content: "x\n" }) }),
    step("note", { match: { tool: "write_file" }, text: "It is noted." }),
  );
  const output = await world.run("use digits");
  expect(output).toMatchObject({ outcome: "executed", answer: "It is noted.", changes: { files: 2 } });
  const { planId } = output as { planId: string };
  const names = ["strategy", "fix.1", "fix.2", "note.1", "note.2"];
  const all: Shown[] = [];
  for (const name of names) all.push(await world.shown(planId, name));
  for (const [index, later] of all.entries()) {
    const earlier = all[index - 1];
    if (earlier === undefined) continue;
    expect(later.system).toBe(earlier.system);
    expect(later.tools).toEqual(earlier.tools);
    expect(later.messages.slice(0, earlier.messages.length)).toEqual(earlier.messages);
  }
  const last = JSON.stringify(all.at(-1)?.messages);
  expect(last).toContain("one");
  expect(last).toContain("Two is 2 now.");
});

test("a question of the model waits for the user; the answer goes on in the same conversation", async () => {
  await using world = new LoopWorld();
  world.script(
    strategy(FIX),
    step("fix", calls("ask_user", { question: "Digits or words?", options: ["digits", "words"] })),
    step("fix", {
      match: { tool: "ask_user", result: "The user answers: digits" },
      ...calls("write_file", { path: "d.txt", content: "1\n" }),
    }),
    step("fix", { match: { tool: "write_file" }, text: "Digits it is." }),
  );
  const error: unknown = await world.run("decide it").catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(AwaitingInputError);
  expect((error as AwaitingInputError).detail).toMatchObject({ question: "Digits or words?" });
  await world.restart();
  const output = await world.run("digits", { continue: true });
  expect(output).toMatchObject({ answer: "Digits it is.", changes: { files: 1 } });
});

test("a request that needs no change is answered in words, and that is a success", async () => {
  await using world = new LoopWorld();
  world.script({ match: { user: "Decide" }, ...calls("record_strategy", { answer: "It has two lines." }) });
  const output = await world.run("how long is a.txt?");
  expect(output).toMatchObject({ outcome: "executed", answer: "It has two lines.", changes: { files: 0 } });
  expect(output).not.toHaveProperty("applied");
});

test("a revised strategy replaces the steps that have not begun; the tree keeps both", async () => {
  await using world = new LoopWorld();
  const steps = [{ id: "other", description: "Write the other file" }];
  world.script(
    strategy(FIX, { id: "wrong", description: "Write the wrong file", needs: ["fix"] }),
    step("fix", calls("revise_strategy", { reason: "It belongs elsewhere.", steps })),
    step("fix", { match: { tool: "revise_strategy" }, ...calls("write_file", { path: "f.txt", content: "1\n" }) }),
    step("fix", { match: { tool: "write_file" }, text: "Fixed." }),
    step("other", calls("write_file", { path: "o.txt", content: "1\n" })),
    step("other", { match: { tool: "write_file" }, text: "Both are there." }),
  );
  const output = await world.run("do it", { automationProfile: "ci" });
  expect(output).toMatchObject({ state: "applied", answer: "Both are there." });
  expect(git(world.repository, "ls-files")).toMatch(/f\.txt\no\.txt/);
});

test("more can be asked for on an executed plan, in the same conversation and sandbox", async () => {
  await using world = new LoopWorld();
  world.script(
    strategy(FIX),
    step("fix", calls("write_file", { path: "one.txt", content: "1\n" })),
    step("fix", { match: { tool: "write_file" }, text: "One." }),
    step("follow-up-1", calls("write_file", { path: "two.txt", content: "2\n" })),
    step("follow-up-1", { match: { tool: "write_file" }, text: "Two as well." }),
  );
  const first = (await world.run("write")) as { planId: string };
  await world.restart();
  const output = await world.run("and a second one", { continue: true });
  expect(output).toMatchObject({ planId: first.planId, answer: "Two as well.", changes: { files: 2 } });
  const { messages } = await world.shown(first.planId, "follow-up-1.1");
  expect(JSON.stringify(messages)).toContain("One.");
});

test("what a required check shows goes back to the model until it passes", async () => {
  await using world = new LoopWorld();
  const agents = await world.agents();
  world.script({ match: { user: "Decide" }, ...calls("record_strategy", { answer: "Nothing." }) });
  await world.run("make the project known");
  const text = "name: tests\ndescription: the answer is right\ncommand: cat answer.txt; grep -q right answer.txt\n";
  await agents.run("validation.add", { definition: { file: "tests.yaml", text } });
  const { resources } = await agents.run("resource.list", {});
  await agents.run("validation.attach", { resource: String(resources[0]?.name), validation: "tests" });
  world.script(
    strategy(FIX),
    step("fix", calls("write_file", { path: "answer.txt", content: "wrong\n" })),
    step("fix", { match: { tool: "write_file" }, text: "Done." }),
    step("mend-1", calls("read_file", { path: "answer.txt" })),
    step("mend-1", { match: { tool: "read_file" }, text: "I see nothing to mend." }),
    step("mend-1", calls("write_file", { path: "answer.txt", content: "right\n" })),
  );
  // A round that changes nothing is the last one.
  expect(await world.run("answer")).toMatchObject({
    obstacle: expect.stringContaining("tests"),
    answer: "I see nothing to mend.",
  });
  world.script(
    strategy(FIX),
    step("fix", calls("write_file", { path: "answer.txt", content: "wrong\n" })),
    step("fix", { match: { tool: "write_file" }, text: "Done." }),
    step("mend-1", calls("write_file", { path: "answer.txt", content: "still wron\n" })),
    step("mend-1", { match: { tool: "write_file" }, text: "Mended." }),
    step("mend-2", calls("write_file", { path: "answer.txt", content: "right\n" })),
    step("mend-2", { match: { tool: "write_file" }, text: "Mended now." }),
  );
  await world.restart();
  const output = await world.run("answer");
  expect(output).toMatchObject({ outcome: "executed", obstacle: null, answer: "Mended now." });
  const { messages } = await world.shown((output as { planId: string }).planId, "mend-1.1");
  expect(JSON.stringify(messages)).toContain("wrong");
});

test("instructions of the project are in the prompt, nested ones with the first result from there", async () => {
  await using world = new LoopWorld();
  world.commit({
    "AGENTS.md": "Use tabs everywhere.\n",
    "lib/AGENTS.md": "The library has no dependencies.\n",
    "lib/x.txt": "x\n",
  });
  world.script(
    { match: { user: "Decide" }, ...calls("read_file", { path: "lib/x.txt" }) },
    { match: { tool: "read_file" }, ...calls("record_strategy", { steps: [FIX] }) },
    step("fix", calls("write_file", { path: "y.txt", content: "y\n" })),
    step("fix", { match: { tool: "write_file" }, text: "Done." }),
  );
  const { planId } = (await world.run("do it")) as { planId: string };
  const { system, messages } = await world.shown(planId, "fix.1");
  expect(system).toContain("Use tabs everywhere.");
  expect(system).not.toContain("no dependencies");
  expect(JSON.stringify(messages)).toContain("The library has no dependencies.");
});
