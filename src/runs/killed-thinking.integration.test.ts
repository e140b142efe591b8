/**
 * A plan of a model that is killed after any commit, in a process of its own, and taken up again by another: no answer
 * that was recorded is asked for again, no tool call that was recorded is made again, and in the end the files are
 * those of an undisturbed run.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { modelServer } from "../actors/testing/model-world.ts";
import { ThinkingWorld } from "../cli/testing/thinking-world.ts";
import { ChangesetStore } from "../ledger/changesets.ts";
import { planChanges } from "../changes/plan-changes.ts";
import { readTree, replay, type Tree } from "../execution/testing/trees.ts";
import { openStore } from "../store/sqlite/open-store.ts";
import type { PlanId } from "../domain/names/ids.ts";
import type { Store } from "../store/port.ts";
import { Program } from "../testing/program.ts";
import { sized } from "../testing/size.ts";

const ACTION = `name: improve
description: Improve {what}
definition_of_done: It is improved
execution_actor: vllm/qwen3
arguments:
  - { name: what, required: true }
`;

const STEPS = [
  { id: "one", description: "Count" },
  { id: "two", description: "Write" },
  { id: "three", description: "Edit", needs: ["one", "two"] },
];

/** The tool calls the model asks for in each step. The commands show if they are run twice, and one of them fails. */
const CALLS = {
  one: [
    ["shell_execute", { command: "echo 1 >> count.txt" }],
    ["shell_execute", { command: "echo 2 >> count.txt; exit 1" }],
  ],
  two: [["write_file", { path: "docs/two.txt", content: "two\n" }]],
  three: [
    ["edit_file", { path: "a.txt", old: "two", new: "2" }],
    ["edit_file", { path: "a.txt", old: "not in it", new: "x" }],
    ["shell_execute", { command: "echo 3 >> count.txt; mv docs/two.txt three.txt" }],
  ],
} as const;
/** One for the strategy, two for each step. */
const QUESTIONS = 7;

interface Outcome {
  readonly tree: Tree;
  readonly replayed: Tree;
  readonly entries: readonly string[];
}

test("killed after any commit and taken up again", { timeout: 1_800_000 }, async () => {
  await using server = await modelServer();
  const asks = (name: string, parameters: object): { name: string; arguments: string } => {
    return { name, arguments: JSON.stringify(parameters) };
  };
  server.onMessage("Decide how this is done", { toolCalls: [asks("record_strategy", { steps: STEPS })] });
  for (const [step, calls] of Object.entries(CALLS)) {
    const toolCalls = calls.map(([name, parameters]) => asks(name, parameters));
    server.on({ userMessage: `step "${step}"`, hasToolResult: false }, { toolCalls });
    server.on({ userMessage: `step "${step}"`, hasToolResult: true }, { content: `${step} is done.` });
  }
  using world = new ThinkingWorld();
  await world.agents.json("config", "set", "provider.vllm.base-url", `${server.url}/v1`);
  const undisturbed = (await world.thinking(ACTION)) as PlanId;
  await using store = await openStore(`sqlite:${world.agents.database}`);
  const sandboxes = join(world.agents.dataDir, "sandboxes");

  const run = async (id: PlanId, killAfter: number): Promise<{ commits: number } | undefined> => {
    const output = join(world.agents.directory, `output-${id}-${killAfter}`);
    const args = [store.url, id, world.agents.dataDir, `${server.url}/v1`, String(killAfter)];
    await using program = new Program("../runs/testing/killed-thinker", args, output);
    const code = await program.exit();
    if (code === undefined) return undefined;
    expect(code).toBe(0);
    return program.lines<{ commits: number }>()[0];
  };
  const outcome = async (id: PlanId): Promise<Outcome> => {
    const changes = await planChanges(store, id, 1);
    return {
      tree: await readTree(join(sandboxes, id, "1", "api", "tree")),
      replayed: await replay(await readTree(world.repository), changes, new ChangesetStore(store)),
      entries: changes.map(({ step, operation, path }) => `${step} ${operation} ${path}`),
    };
  };

  const whole = await run(undisturbed, 0);
  const expected = await outcome(undisturbed);
  expect(expected.replayed).toEqual(expected.tree);
  expect(server.getRequests()).toHaveLength(QUESTIONS);
  expect(await answers(store, undisturbed)).toBe(QUESTIONS);
  const commits = whole?.commits ?? 0;
  expect(commits).toBeGreaterThan(20);

  for (let killAfter = 1; killAfter < commits; killAfter += sized({ normal: 9, full: 1 })) {
    const id = (await world.anotherThought()) as PlanId;
    expect(await run(id, killAfter)).toBeUndefined();
    const recorded = await answers(store, id);
    await store.transaction((tx) => tx.run("UPDATE leases SET expires_at = 0 WHERE plan_id = ?", id));
    server.clearRequests();
    expect(await run(id, 0)).toBeDefined();
    expect([killAfter, server.getRequests().length]).toEqual([killAfter, QUESTIONS - recorded]);
    expect(await answers(store, id)).toBe(QUESTIONS);
    const after = await outcome(id);
    expect(after.tree).toEqual(expected.tree);
    expect(after.replayed).toEqual(after.tree);
    expect(after.entries).toEqual(expected.entries);
  }
});

/** How many answers of models are recorded, each with its decision. */
async function answers(store: Store, id: PlanId): Promise<number> {
  return store.read(async (reader) => {
    const steps = await reader.all("SELECT 1 FROM steps WHERE plan_id = ? AND key LIKE 'ask:%'", id);
    const decisions = await reader.all("SELECT 1 FROM decisions WHERE plan_id = ? AND snapshot IS NOT NULL", id);
    const calls = await reader.all("SELECT 1 FROM model_calls WHERE plan_id = ? AND error IS NULL", id);
    expect([decisions.length, calls.length]).toEqual([steps.length, steps.length]);
    return steps.length;
  });
}
