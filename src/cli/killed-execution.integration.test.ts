/**
 * Executions killed at any moment, through the command line, and continued: in the end every change is recorded once,
 * with the step that made it, and the sandbox is the same as after an undisturbed run.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { ChangesetStore } from "../ledger/changesets.ts";
import { openStore } from "../store/sqlite/open-store.ts";
import type { PlanId } from "../domain/names/ids.ts";
import { planChanges } from "../changes/plan-changes.ts";
import { readTree, replay, type Tree } from "../execution/testing/trees.ts";
import { seededRandom } from "../testing/random.ts";
import { Agents, ROOT } from "./testing/agents.ts";
import { allowCommands } from "./testing/confinement.ts";
import { sized } from "../testing/size.ts";

const FULL = sized({ normal: false, full: true });
const KILLS = FULL ? 300 : 10;
const SEED = Number(process.env["CLEVERAGENTS_TEST_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));

/** Every kind of change, and commands that show when they are run twice. */
const STEPS = `  - { id: write, tool: write_file, params: { path: docs/new.txt, content: "new\\n" } }
  - { id: append, tool: shell_execute, params: { command: "echo 1 >> count.txt; sleep 0.05; echo 2 >> count.txt; echo noise > x.dat" } }
  - { id: rename, tool: move_file, params: { path: a.txt, to: moved/a.txt } }
  - { id: edit, tool: edit_file, params: { path: moved/a.txt, old: two, new: "2" } }
  - { id: nested, tool: shell_execute, params: { command: "git init --quiet sub; echo s > sub/s; chmod +x docs/new.txt; ln -s s sub/l" } }
  - { id: rules, tool: edit_file, params: { path: .gitignore, old: "*.dat", new: "*.tmp" } }
  - { id: many, tool: shell_execute, params: { command: "mkdir many; for i in $(seq 300); do echo $i > many/$i; done; rm b.txt" } }
  - { id: again, tool: shell_execute, params: { command: "echo 3 >> count.txt; rm -r many/1*" } }
  - { id: drop, tool: delete_directory, params: { path: many } }
`;

class Killable implements Disposable {
  readonly agents = new Agents();
  readonly repository = join(this.agents.directory, "repository");

  async prepare(): Promise<void> {
    mkdirSync(this.repository);
    for (const [name, content] of Object.entries({ "a.txt": "one\ntwo\n", "b.txt": "b\n", ".gitignore": "*.dat\n" }))
      writeFileSync(join(this.repository, name), content);
    const author = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
    for (const args of [
      ["init", "--quiet"],
      ["add", "--all"],
      [...author, "commit", "--quiet", "--message=first"],
    ])
      execFileSync("git", args, { cwd: this.repository });
    this.agents.write("actor.yaml", `name: worker\ntype: tool\ndescription: works\nsteps:\n${STEPS}`);
    this.agents.write(
      "action.yaml",
      "name: work\ndescription: Work\ndefinition_of_done: Done\nexecution_actor: local/worker\n",
    );
    await this.agents.json("actor", "add", "--config", "actor.yaml");
    await this.agents.json("action", "create", "--config", "action.yaml");
    await this.agents.json("resource", "add", "git-checkout", "api", "--path", this.repository);
    await this.agents.json("project", "create", "shop", "--resource", "api");
    await allowCommands(this.agents);
  }

  async plan(): Promise<PlanId> {
    const { data } = await this.agents.json("plan", "use", "work", "shop");
    return String(data["plan_id"]) as PlanId;
  }

  /** Executes the plan and kills that after so many milliseconds; false when it had ended before. */
  async killed(id: PlanId, afterMs: number): Promise<boolean> {
    const args = [join(ROOT, "bin/agents"), "--data-dir", this.agents.dataDir, "plan", "execute", id];
    const child = spawn(process.execPath, args, { stdio: "ignore" });
    const exited = once(child, "exit");
    await Promise.race([sleep(afterMs), exited]);
    child.kill("SIGKILL");
    await exited;
    // Its child processes end with it: commands, and the git that answers questions.
    for (let waited = 0; processesIn(this.agents.dataDir).length > 0; waited += 10) {
      if (waited > 10_000) throw new Error(`still running: ${processesIn(this.agents.dataDir).join(", ")}`);
      await sleep(10);
    }
    return child.signalCode === "SIGKILL";
  }

  async outcome(id: PlanId): Promise<{ entries: string[]; tree: Tree; replayed: Tree; patch: unknown }> {
    const { data } = await this.agents.json("plan", "diff", id);
    await using store = await openStore(`sqlite:${this.agents.database}`);
    const changes = await planChanges(store, id, 1);
    const tree = await readTree(join(this.agents.dataDir, "sandboxes", id, "1", "api", "tree"));
    const replayed = await replay(await readTree(this.repository), changes, new ChangesetStore(store));
    const entries = changes.map(({ operation, path, step }) => `${step} ${operation} ${path}`);
    return { entries, tree, replayed, patch: data["patch"] };
  }

  [Symbol.dispose](): void {
    this.agents[Symbol.dispose]();
  }
}

function processesIn(directory: string): string[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && workingDirectory(name).startsWith(directory));
}

function workingDirectory(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return "";
  }
}

test(`killed ${KILLS} times at a random moment, each time resumed (seed ${SEED})`, { timeout: 3_600_000 }, async () => {
  const random = seededRandom(SEED);
  using world = new Killable();
  await world.prepare();
  const undisturbed = await world.plan();
  const started = performance.now();
  expect((await world.agents.processJson("plan", "execute", undisturbed)).exit_code).toBe(0);
  const durationMs = performance.now() - started;
  const expected = await world.outcome(undisturbed);
  const users = await readTree(world.repository);
  expect(expected.entries).toHaveLength(611);
  expect(expected.replayed).toEqual(expected.tree);

  for (let kills = 0; kills < KILLS;) {
    const id = await world.plan();
    // At most ten kills for a plan, so that several are carried through.
    for (let round = 0; round < 10 && kills < KILLS; round += 1) {
      if (!(await world.killed(id, random() * durationMs))) break;
      kills += 1;
    }
    expect((await world.agents.json("plan", "execute", id)).data).toMatchObject({ state: "complete" });
    expect(await world.outcome(id)).toEqual(expected);
  }
  expect(await readTree(world.repository)).toEqual(users);
  expect((await world.agents.json("audit", "verify")).exit_code).toBe(0);
});
