/**
 * Workers in processes of their own that are killed or stopped at any moment, while others take their plans over. In
 * the end every plan is applied, each of its effects exactly once, every event is there, and nothing is left over.
 */
import { execFileSync, type ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { seededRandom } from "../testing/random.ts";
import { sized } from "../testing/size.ts";
import { QueueWorld } from "./testing/queue-world.ts";

const PLANS = sized({ quick: 4, normal: 8, full: 30 });
const WORKERS = 4;
const DISTURBANCES = sized({ quick: 4, normal: 8, full: 40 });
const SEED = Number(process.env["CLEVERAGENTS_TEST_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));

/** A command shows by its file that it was run twice in the same sandbox. */
const STEPS = `  - { id: count, tool: shell_execute, params: { command: "echo 1 >> {name}.txt; sleep 0.1; echo 2 >> {name}.txt" } }
  - { id: write, tool: write_file, params: { path: "more/{name}.txt", content: "{name}\\n" } }
  - { id: again, tool: shell_execute, params: { command: "echo 3 >> {name}.txt; sleep 0.1" } }
`;

/** Some workers in processes of their own; one that was killed is replaced. */
class Company implements Disposable {
  readonly #world: QueueWorld;
  readonly #processes: ChildProcess[] = [];
  readonly #stopped = new Set<ChildProcess>();
  readonly takeovers: number[] = [];

  constructor(world: QueueWorld) {
    this.#world = world;
    for (let n = 0; n < WORKERS; n += 1) this.#start();
  }

  #start(): void {
    const { child } = this.#world.agents.start(["jobs", "work", "--workers", "1"], { cwd: this.#world.repository });
    this.#processes.push(child);
  }

  get #alive(): ChildProcess[] {
    return this.#processes.filter((child) => child.exitCode === null && child.signalCode === null);
  }

  /** Kills one of those that work on a plan, or stops it for longer than its lease lasts. */
  async disturb(random: () => number): Promise<void> {
    await sleep(random() * 700);
    const busy = this.#alive.filter((child) => !this.#stopped.has(child) && this.#claimOf(child) !== undefined);
    const victim = busy[Math.floor(random() * busy.length)];
    if (victim === undefined) return;
    if (random() < 0.7) {
      const claim = this.#claimOf(victim);
      victim.kill("SIGKILL");
      this.#start();
      if (claim !== undefined) this.takeovers.push(await this.#takeover(claim));
    } else {
      victim.kill("SIGSTOP");
      this.#stopped.add(victim);
      // One that was stopped in the middle of a commit holds up all others, and then there is no takeover.
      if (this.#lapse(victim)) await sleep(random() * 2_000);
      victim.kill("SIGCONT");
      this.#stopped.delete(victim);
    }
  }

  /** As if the time of its leases and claims had passed: the store's clock alone judges them. */
  #lapse({ pid }: ChildProcess): boolean {
    try {
      this.#world.sql(`UPDATE leases SET expires_at = 0 WHERE process LIKE '% ${pid} %';
        UPDATE jobs SET claimed_until = 0 WHERE process LIKE '% ${pid} %'`);
      return true;
    } catch (error) {
      if (String(error).includes("database is locked")) return false;
      throw error;
    }
  }

  #claimOf({ pid }: ChildProcess): string | undefined {
    return this.#world.rows<{ claim: string }>(
      `SELECT claim FROM jobs WHERE state = 'active' AND process LIKE '% ${pid} %'`,
    )[0]?.claim;
  }

  /** How long until another worker has the plan, or it is queued again, in milliseconds. */
  async #takeover(claim: string): Promise<number> {
    const begun = performance.now();
    while (this.#world.rows(`SELECT 1 FROM jobs WHERE claim = '${claim}'`).length > 0) await sleep(10);
    return performance.now() - begun;
  }

  [Symbol.dispose](): void {
    for (const child of this.#alive) child.kill("SIGKILL");
  }
}

async function prepared(world: QueueWorld): Promise<string[]> {
  await world.tool(STEPS);
  const action = `name: count\ndescription: Count {name}\ndefinition_of_done: It is done\nexecution_actor: local/worker
arguments:\n  - { name: name, required: true }\n`;
  world.agents.write("count.yaml", action);
  await world.do("action", "create", "--config", "count.yaml");
  const profile = await world.ci();
  const plans: string[] = [];
  for (let n = 0; n < PLANS; n += 1) {
    const words = ["plan", "use", "count", "shop", "--arg", `name=n${n}`, "--automation-profile", profile];
    plans.push(String((await world.do(...words, "--background"))["plan_id"]));
  }
  return plans;
}

test(`${PLANS} plans and workers that are killed and stopped (seed ${SEED}): each effect once, no event lost`, async () => {
  using world = new QueueWorld();
  const plans = await prepared(world);
  const random = seededRandom(SEED);
  using company = new Company(world);
  for (let n = 0; n < DISTURBANCES && pending(world) > 0; n += 1) await company.disturb(random);
  // A plan that ended too many workers in a row is given to a person, who tries it again.
  for (const { plan_id } of world.rows<{ plan_id: string }>("SELECT plan_id FROM jobs WHERE state = 'dead'"))
    await world.do("jobs", "retry", plan_id);
  const deadline = performance.now() + 300_000;
  while (pending(world) > 0 && performance.now() < deadline) await sleep(100);
  console.log(`takeovers after a kill, ms: ${company.takeovers.map(Math.round).join(", ")}`);
  const jobs = world.rows<{ state: string; error: string | null }>("SELECT state, error FROM jobs");
  expect(jobs).toEqual(plans.map(() => ({ state: "done", error: null })));
  for (const [n, plan] of plans.entries()) {
    expect(await world.stateOf(plan)).toBe("apply/applied");
    expect(readFileSync(join(world.repository, `n${n}.txt`), "utf8")).toBe("1\n2\n3\n");
    expect(readFileSync(join(world.repository, `more/n${n}.txt`), "utf8")).toBe(`n${n}\n`);
  }
  requireOnce(world, plans);
  expect((await world.agents.json("audit", "verify")).exit_code).toBe(0);
}, 360_000);

function pending(world: QueueWorld): number {
  return world.rows("SELECT 1 FROM jobs WHERE state IN ('queued', 'active')").length;
}

/** One commit and one event of each move for each plan; no lease is held and no journal open. */
function requireOnce(world: QueueWorld, plans: readonly string[]): void {
  const log = execFileSync("git", ["log", "--format=%s"], { cwd: world.repository, encoding: "utf8" });
  const commits = log.split("\n").filter((line) => line.startsWith("Count n"));
  expect(commits.toSorted()).toEqual(plans.map((_, n) => `Count n${n}`).toSorted());
  const moves = world.rows<{ plan_id: string; moves: number; version: number }>(
    `SELECT plan_id, COUNT(*) AS moves, plans.version FROM events JOIN plans ON plans.id = plan_id
      WHERE type IN ('plan.created', 'plan.phase_changed', 'plan.state_changed', 'plan.applied') GROUP BY plan_id`,
  );
  expect(moves).toHaveLength(plans.length);
  for (const one of moves) expect(one.moves).toBe(one.version);
  const applied = world.rows("SELECT plan_id FROM events WHERE type = 'plan.applied'");
  expect(applied).toHaveLength(plans.length);
  expect(world.rows("SELECT 1 FROM leases WHERE expires_at > 0")).toEqual([]);
  expect(world.rows("SELECT 1 FROM journals WHERE outcome IS NULL")).toEqual([]);
  const busy = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && worksIn(pid, world.agents.dataDir));
  expect(busy).toEqual([]);
}

/** Whether a command of a sandbox still runs. */
function worksIn(pid: string, directory: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(join(directory, "sandboxes"));
  } catch {
    return false;
  }
}
