/**
 * A plan with a question, a revision, a compaction and a round of mending, killed after each of its commits and taken
 * up again by the command that a user would give: no question is asked twice, and decisions, conversation and files are
 * those of an undisturbed run.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { strictServer, type StrictServer } from "../actors/testing/strict-server.ts";
import type { WireAnswer, WireRequest } from "../actors/testing/wires/wire.ts";
import { planChanges } from "../changes/plan-changes.ts";
import type { PlanId } from "../domain/names/ids.ts";
import { readTree, type Tree } from "../execution/testing/trees.ts";
import { openStore } from "../store/sqlite/open-store.ts";
import { sized } from "../testing/size.ts";
import { ThinkingWorld } from "./testing/thinking-world.ts";
import { calls } from "./testing/wire-world.ts";

const ACTION = `name: improve
description: Improve {what}
definition_of_done: The answer is right
execution_actor: vllm/qwen3
arguments:
  - { name: what, required: true }
`;
const CHECK = "name: tests\ndescription: the answer is right\ncommand: cat answer.txt; grep -q right answer.txt\n";
const PRELOAD = fileURLToPath(new URL("../testing/kill-after-commit.cjs", import.meta.url));
const EVERY = sized({ quick: 31, normal: 13, full: 1 });
/** Small, so that the two large files do not fit into it together. */
const WINDOW = 20_000;
const LARGE = Array.from({ length: 700 }, (_, line) => `line ${line} is as good as any other`).join("\n");

/** Each answer follows from the model's last act, or from the task it was given since. */
const AFTER: Readonly<Record<string, WireAnswer>> = {
  "Decide how": calls("read_file", { path: "a.txt" }),
  "read_file a.txt": calls("record_strategy", {
    steps: [
      { id: "fix", description: "Fix it", risk: 0.1, confidence: 0.9 },
      { id: "wrong", description: "Write the wrong file", needs: ["fix"], risk: 0.1, confidence: 0.9 },
    ],
  }),
  'step "fix"': calls("ask_user", { question: "Digits or words?", options: ["digits", "words"] }),
  "ask_user ": calls("revise_strategy", {
    reason: "It belongs elsewhere.",
    steps: [{ id: "note", description: "Write the answer", risk: 0.1, confidence: 0.9 }],
  }),
  "revise_strategy ": calls("read_file", { path: "large-1.txt" }),
  "read_file large-1.txt": calls("read_file", { path: "large-2.txt" }),
  "read_file large-2.txt": calls("write_file", { path: "docs/new.txt", content: "new\n" }),
  "write_file docs/new.txt": calls("shell_execute", { command: "echo 1 >> count.txt; exit 1" }),
  "shell_execute ": { text: "Fixed." },
  'step "note"': calls("write_file", { path: "answer.txt", content: "wrong\n" }),
  "write_file answer.txt wrong": calls("step_done", { summary: "The answer is there." }),
  'step "mend-1"': calls("write_file", { path: "answer.txt", content: "right\n" }),
  "write_file answer.txt right": { text: "It is right now." },
};

/** The plan's questions, and the user's replies. */
const REPLIES = [
  ["Digits or words?", "digits"],
  ["The strategy should change", "yes"],
] as const;

function answerTo({ messages }: WireRequest): WireAnswer {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const since = messages.slice(last + 1).map(({ text }) => text);
  if (since.at(-1)?.includes("Write a handover") === true) return { text: "Both large files were read." };
  const task = Object.keys(AFTER).find((key) => /^(?:Decide|step)/.test(key) && since.at(-1)?.includes(key) === true);
  const before = messages[last];
  const [call] = before?.role === "assistant" ? before.calls : [];
  const { path, content } = (call?.input ?? {}) as { readonly path?: string; readonly content?: string };
  const act = `${call?.name} ${path ?? ""}${path === "answer.txt" ? ` ${content?.trim()}` : ""}`;
  return AFTER[task ?? act] ?? { status: 418, message: `There is no answer to ${task ?? act}.` };
}

interface Outcome {
  readonly tree: Tree;
  readonly entries: readonly string[];
  readonly decisions: string;
  readonly requests: readonly string[];
}

class KilledWorld extends ThinkingWorld {
  readonly #server: StrictServer;

  constructor(server: StrictServer) {
    super();
    this.#server = server;
    for (const name of ["large-1.txt", "large-2.txt"]) writeFileSync(join(this.repository, name), LARGE);
    this.commit();
  }

  async prepare(): Promise<PlanId> {
    await this.agents.json("config", "set", "provider.vllm.base-url", `${this.#server.url}/v1`);
    const id = await this.thinking(ACTION);
    await this.agents.json("validation", "add", "--config", this.agents.write("tests.yaml", CHECK));
    const { error } = await this.agents.json("validation", "attach", "api", "tests");
    if (error !== undefined) throw new Error(error.message);
    return id as PlanId;
  }

  /** Executes the plan in a process of its own; undefined when it was killed. */
  async execute(id: PlanId, killAfter: number): Promise<{ commits: number; text: string } | undefined> {
    const file = join(this.agents.directory, "commits");
    rmSync(file, { force: true });
    const { code, stdout, stderr } = await this.agents.process(["plan", "execute", id], {
      env: { NODE_OPTIONS: `--require ${PRELOAD}`, TEST_KILL_AFTER: String(killAfter), TEST_COMMITS: file },
    });
    if (code === null) return undefined;
    return { commits: Number(readFileSync(file, "utf8")), text: stdout + stderr };
  }

  /** To its end, with the user's answer on the way; the process is killed once, after so many commits. */
  async carriedOut(id: PlanId, killAfter: number): Promise<{ commits: number; killed: boolean }> {
    let [commits, killed] = [0, false];
    for (let left = killAfter; ;) {
      const ended = await this.execute(id, left > 0 && !killed ? left : 0);
      if (ended === undefined) {
        killed = true;
        continue;
      }
      commits += ended.commits;
      left -= ended.commits;
      const [, reply] = REPLIES.find(([question]) => ended.text.includes(question)) ?? [];
      if (reply === undefined) {
        // "Had been executed", if the kill came after the last commit.
        if (!/(?:is|had been) executed/.test(ended.text)) throw new Error(ended.text);
        return { commits, killed };
      }
      const { error } = await this.agents.json("plan", "prompt", id, reply);
      if (error !== undefined) throw new Error(error.message);
    }
  }

  async outcome(id: PlanId, since: number): Promise<Outcome> {
    await using store = await openStore(`sqlite:${this.agents.database}`);
    const changes = await planChanges(store, id, 1);
    const { data } = await this.agents.json("plan", "tree", id);
    return {
      tree: await readTree(join(this.agents.dataDir, "sandboxes", id, "1", "api", "tree")),
      entries: changes.map(({ step, operation, path }) => `${step} ${operation} ${path}`),
      decisions: timeless({ ...data, decision_ids: undefined }),
      requests: this.#server.log.slice(since).map(({ body, refused }) => timeless({ body, refused })),
    };
  }
}

/** Without ids, times and durations. */
function timeless(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll(/[0-9A-HJKMNP-TV-Z]{26}/g, "ID")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/(?:call_|chatcmpl-)\d{6}/g, "CALL")
    .replaceAll(/took [\d.]+ s/g, "took")
    .replaceAll(/"(?:duration_ms|created_at|at)":\d+/g, '"":0');
}

test("killed after any commit and taken up again, nothing is asked twice", { timeout: 3_600_000 }, async () => {
  await using server = await strictServer({
    script: answerTo,
    other: (request, response) => {
      if (request.url !== "/api/show") return false;
      response.end(JSON.stringify({ parameters: `num_ctx ${WINDOW}` }));
      return true;
    },
  });
  using world = new KilledWorld(server);
  const undisturbed = await world.prepare();
  const { commits } = await world.carriedOut(undisturbed, 0);
  const expected = await world.outcome(undisturbed, 0);
  expect(server.log.flatMap(({ refused }) => refused ?? [])).toEqual([]);
  // One for each answer, and the handover.
  expect(expected.requests).toHaveLength(Object.keys(AFTER).length + 1);
  expect(expected.requests.filter((body) => body.includes("Both large files were read."))).not.toEqual([]);
  expect(expected.entries).toEqual([
    "fix/5.1 create docs/new.txt",
    "fix/6.1 create count.txt",
    "note/1.1 create answer.txt",
    "mend-1/1.1 modify answer.txt",
  ]);
  expect(commits).toBeGreaterThan(60);

  for (let killAfter = 1; killAfter < commits; killAfter += EVERY) {
    const id = (await world.anotherThought()) as PlanId;
    const since = server.log.length;
    const { killed } = await world.carriedOut(id, killAfter);
    const after = await world.outcome(id, since);
    expect({ killAfter, killed, ...after }).toEqual({ killAfter, killed, ...expected });
  }
  expect((await world.agents.json("audit", "verify")).exit_code).toBe(0);
});
