/** `agents run` with several actors: what a person and a machine see, a kill in the middle, and Ctrl-C. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { writer } from "../app/testing/candidates-world.ts";
import { makeRepository } from "../testing/git-repository.ts";
import { Agents, type Envelope } from "./testing/agents.ts";

class TryWorld extends Agents {
  readonly repository: string = makeRepository(join(this.directory, "shop"));

  /** A scripted model of this name. */
  async model(name: string, turns: readonly object[]): Promise<string> {
    const file = this.write(`${name}.yaml`, JSON.stringify({ turns }));
    await this.json("config", "set", `provider.${name}.type`, "scripted");
    await this.json("config", "set", `provider.${name}.transcript`, file);
    await this.json("config", "set", `provider.${name}.prices`, "*=3/15");
    return `${name}/transcript`;
  }

  async two(more: Parameters<typeof writer>[2] = {}): Promise<string[]> {
    const first = await this.model("first", writer("note.txt", "first\n"));
    const second = await this.model("second", writer("note.txt", "second\n", more));
    return ["--actor", first, "--actor", second, "--automation-profile", "trusted"];
  }

  asked(...words: string[]) {
    return this.run(["run", ...words], { cwd: this.repository });
  }

  async envelope(...words: string[]): Promise<Envelope> {
    return JSON.parse((await this.asked(...words, "--format", "json")).stdout) as Envelope;
  }

  /** The recorded answers of models, by plan. */
  answers(): { plan: string; count: number }[] {
    using database = new DatabaseSync(this.database, { timeout: 5_000 });
    return database
      .prepare("SELECT plan_id AS plan, COUNT(*) AS count FROM model_calls GROUP BY plan_id ORDER BY plan_id")
      .all() as unknown as { plan: string; count: number }[];
  }
}

test("without a terminal the candidates are compared and wait; plan choose applies one, and a second choice is a conflict", async () => {
  using world = new TryWorld();
  const actors = await world.two();
  const { code, stdout, stderr } = await world.asked("write a note", ...actors, "--format", "plain");
  expect(code).toBe(0);
  expect(stderr).toMatch(/^\[1\] plan \w{26} by first\/transcript$/m);
  expect(stderr).toMatch(/^\[2\] answered write/m);
  expect(stderr).toMatch(/^\[1\] ready {4}1 file \(\+1 −0\), not checked$/m);
  expect(stdout).toContain("changed differently: note.txt");
  const [, plan = ""] = /next: agents plan diff (\w+)/.exec(stdout) ?? [];
  const { data } = await world.json("plan", "compare", plan);
  const plans = (data["candidates"] as { plan_id: string }[]).map(({ plan_id }) => plan_id);
  expect(data).toMatchObject({ chosen: null, best: plan, agreement: { different: ["note.txt"] } });
  expect(await world.json("plan", "choose", plans[1] ?? "", "--yes")).toMatchObject({ data: { applied: true } });
  expect(readFileSync(join(world.repository, "note.txt"), "utf8")).toBe("second\n");
  const lost = await world.json("plan", "choose", plans[0] ?? "", "--yes");
  expect(lost).toMatchObject({ exit_code: 4, error: { code: "CONFLICT" } });
  expect((await world.run(["plan", "list"])).stdout).toContain("not chosen");
  // The same path was changed by the chosen one: nothing is overwritten.
  expect(await world.json("plan", "apply", plans[0] ?? "", "--yes")).toMatchObject({ exit_code: 4 });
  expect(readFileSync(join(world.repository, "note.txt"), "utf8")).toBe("second\n");
});

test("no line of the comparison is wider than a narrow terminal", async () => {
  using world = new TryWorld();
  const actors = await world.two();
  const { finished } = world.start(["run", "write a note", ...actors, "--yes"], {
    cwd: world.repository,
    terminal: { columns: 60, rows: 24 },
  });
  const { stdout, code } = await finished;
  expect(code).toBe(0);
  const seen = stripVTControlCharacters(stdout).split(/\r?\n/);
  const table = seen.slice(seen.findIndex((line) => line.includes("Comparison")));
  expect(table.length).toBeGreaterThan(4);
  for (const line of table.slice(0, 12)) expect(line.length).toBeLessThanOrEqual(60);
});

test("killed in the middle, run --continue goes on with all candidates and asks nothing twice", async () => {
  using world = new TryWorld();
  const actors = await world.two({ delayMs: 3_000 });
  const { child, finished } = world.start(["run", "write a note", ...actors, "--yes"], { cwd: world.repository });
  // The quick one is done; the slow one has its strategy and is being asked.
  for (let tries = 0; tries < 200; tries += 1) {
    await sleep(50);
    const counts = existsSync(world.database) ? counted(world) : [];
    if (counts.length === 2 && counts.some(({ count }) => count === 3)) break;
  }
  child.kill("SIGKILL");
  await finished;
  const before = world.answers();
  expect(before.map(({ count }) => count).sort((a, b) => a - b)).toEqual([1, 3]);
  expect(existsSync(join(world.repository, "note.txt"))).toBe(false);
  const { data, exit_code, error } = JSON.parse(
    (await world.process(["run", "--continue", "--yes", "--format", "json"], { cwd: world.repository })).stdout,
  ) as Envelope;
  expect(error).toBeUndefined();
  expect({ exit_code, situations: situations(data) }).toEqual({ exit_code: 0, situations: ["applied", "ready"] });
  // The slow one had two questions left; the quick one none.
  expect(world.answers().map(({ count }) => count)).toEqual([3, 3]);
});

function counted(world: TryWorld): { count: number }[] {
  try {
    return world.answers();
  } catch {
    return [];
  }
}

function situations(data: Envelope["data"]): string[] {
  return (data["candidates"] as { situation: string }[]).map(({ situation }) => situation);
}

test("Ctrl-C stops all of them, and says how to go on", async () => {
  using world = new TryWorld();
  const actors = await world.two({ delayMs: 60_000 });
  const { child, finished } = world.start(["run", "write a note", ...actors, "--yes"], { cwd: world.repository });
  let said = "";
  await new Promise<void>((resolve) => {
    child.stderr.on("data", (text: string) => {
      said += text;
      if (/\[1\] ready/.test(said)) resolve();
    });
  });
  child.kill("SIGINT");
  const { code, stderr } = await finished;
  expect(code).toBe(1);
  expect(stderr).toContain("The 2 candidates were interrupted.");
  expect(stderr).toContain("agents run --continue");
  const { data } = await world.json("plan", "compare", /\[1\] plan (\w+)/.exec(stderr)?.[1] ?? "");
  expect(situations(data)).toEqual(["ready", "stopped"]);
  expect(data["chosen"]).toBeNull();
});
