/** The command line on a PostgreSQL database that several machines share; here each has a data directory of its own. */
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openCleverAgents } from "../index.ts";
import { makeEmptyDatabase, type TestDatabase } from "../store/testing/postgres-databases.ts";
import { missingServer } from "../store/testing/postgres-server.ts";
import { Agents } from "./testing/agents.ts";
import { World } from "./testing/world.ts";

const missing = missingServer("packaged");

const STEPS = `  - { id: greet, tool: write_file, params: { path: greeting.txt, content: "hello {who}" } }
  - { id: change, tool: write_file, params: { path: a.txt, content: "changed" } }
`;
/** Slow enough that a command can be killed in the middle. */
const SLOW = `  - { id: greet, tool: write_file, params: { path: greeting.txt, content: "hello" } }
  - { id: wait, tool: shell_execute, params: { command: "echo begun > begun.txt; sleep 3" } }
  - { id: end, tool: write_file, params: { path: end.txt, content: "the end" } }
`;

interface Shared extends AsyncDisposable {
  readonly database: TestDatabase;
  readonly world: World;
}

/** A user's repository and command line, whose settings name the database. */
async function shared(): Promise<Shared> {
  const database = await makeEmptyDatabase("packaged");
  const world = new World();
  world.agents.environment["CLEVERAGENTS_STORE"] = database.url;
  const end = async (): Promise<void> => {
    world[Symbol.dispose]();
    await database[Symbol.asyncDispose]();
  };
  return { database, world, [Symbol.asyncDispose]: end };
}

async function done(agents: Agents, ...args: string[]): Promise<Record<string, unknown>> {
  const { data, error } = await agents.json(...args);
  if (error !== undefined) throw new Error(`${args.join(" ")}: ${JSON.stringify(error)}`);
  return data;
}

describe.skipIf(missing !== undefined)(`a shared store (${missing ?? "PostgreSQL"})`, () => {
  test("a plan goes from use to undo, and everything about it is in the database", async () => {
    await using here = await shared();
    const { agents } = here.world;
    const before = here.world.state();
    const id = await here.world.plan(STEPS);
    await done(agents, "plan", "execute", id);
    expect(await done(agents, "plan", "apply", id, "--yes")).toMatchObject({ state: "applied" });
    expect(readFileSync(join(here.world.repository, "greeting.txt"), "utf8")).toBe("hello world");
    await done(agents, "plan", "undo", id, "--yes");
    expect(existsSync(join(here.world.repository, "greeting.txt"))).toBe(false);
    expect(here.world.state().includes("greeting")).toBe(before.includes("greeting"));
    expect(await done(agents, "audit", "verify")).toMatchObject({ verified: true });
    expect(existsSync(agents.database)).toBe(false);
  });

  test("two machines see each other's plans, and one continues what the other began", async () => {
    await using here = await shared();
    const { agents } = here.world;
    using other = new Agents();
    other.environment["CLEVERAGENTS_STORE"] = here.database.url;
    const id = await here.world.plan(STEPS);
    expect(await done(other, "plan", "list")).toMatchObject({ plans: [{ plan_id: id }] });
    await done(other, "plan", "execute", id);
    expect(await done(agents, "plan", "status", id)).toMatchObject({ phase: "execute", state: "complete" });
    const race = await Promise.all([agents, other].map((one) => one.json("plan", "apply", id, "--yes")));
    expect(race.filter(({ exit_code }) => exit_code === 0)).toHaveLength(1);
    expect(readFileSync(join(here.world.repository, "a.txt"), "utf8")).toBe("changed");
  });

  test("a command that is killed in the middle is continued by the next one", async () => {
    await using here = await shared();
    const { agents } = here.world;
    const id = await here.world.plan(SLOW);
    const begun = join(agents.dataDir, "sandboxes", id, "1", "api", "tree", "begun.txt");
    const killed = agents.start(["plan", "execute", id], { group: true });
    while (!existsSync(begun)) await sleep(20);
    killed.child.kill("SIGKILL");
    await killed.finished;
    await done(agents, "plan", "execute", id);
    await done(agents, "plan", "apply", id, "--yes");
    expect(readFileSync(join(here.world.repository, "end.txt"), "utf8")).toBe("the end");
    expect(await done(agents, "audit", "verify")).toMatchObject({ verified: true });
  });

  test("the store and its password: shown as an address without it, by the option as by the setting", async () => {
    await using here = await shared();
    const { agents } = here.world;
    delete agents.environment["CLEVERAGENTS_STORE"];
    const url = new URL(here.database.url);
    url.password = "open-sesame";
    const place = here.database.url;
    const info = await done(agents, "info", "--store", url.href);
    expect(info).toMatchObject({ database: { kind: "postgresql", path: place, exists: true, size_bytes: null } });
    await done(agents, "config", "set", "core.store", url.href);
    const seen: string[] = [];
    for (const words of [["init"], ["info"], ["doctor"], ["config", "list"], ["config", "get", "core.store"], []]) {
      const { stdout, stderr } = await agents.run(words);
      seen.push(stdout + stderr);
    }
    expect(seen[1]).toContain(`${place} (PostgreSQL, shared)`);
    expect(seen[2]).toMatch(/database +ok +postgres:.*PostgreSQL 18/);
    const wrong = await agents.run(["plan", "list", "--verbose", "--store", url.href.replace("postgres:", "mysql:")]);
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("core.store")]);
    url.port = "1";
    const down = await agents.run(["plan", "list", "--verbose", "--store", url.href]);
    expect(down.stderr).toContain("does not answer");
    expect(JSON.stringify([info, seen, wrong, down])).not.toContain("sesame");
    // It is where keys are, and not in the configuration, which others may read; and it can always be taken back.
    expect(readFileSync(join(agents.dataDir, "config.yaml"), "utf8")).not.toContain("sesame");
    await done(agents, "config", "set", "core.store", url.href);
    expect((await agents.run(["plan", "list"])).code).toBe(1);
    await done(agents, "config", "unset", "core.store");
    expect(await done(agents, "plan", "list")).toMatchObject({ plans: [] });
  });

  test("uninstalling a machine leaves the database to the others", async () => {
    await using here = await shared();
    const { agents } = here.world;
    const id = await here.world.plan(STEPS);
    await done(agents, "plan", "execute", id);
    await done(agents, "uninstall", "--yes");
    expect(existsSync(join(agents.dataDir, "sandboxes"))).toBe(false);
    expect(await done(agents, "plan", "list")).toMatchObject({ plans: [{ plan_id: id }] });
  });

  test("a program opens the same store", async () => {
    await using here = await shared();
    const id = await here.world.plan(STEPS);
    const { dataDir } = here.world.agents;
    await using agents = await openCleverAgents({ dataDir: `${dataDir}-2`, store: here.database.url });
    const { plans } = await agents.run("plan.list", { here: false });
    expect(plans.map(({ planId }) => planId)).toEqual([id]);
  });
});
