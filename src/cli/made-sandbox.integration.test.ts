import { existsSync, globSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { strictServer, strictSettings, type StrictServer } from "../actors/testing/strict-server.ts";
import type { WireRequest } from "../actors/testing/wires/wire.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { openStore } from "../store/sqlite/open-store.ts";
import { makeRepository } from "../testing/git-repository.ts";
import { Agents, type Envelope } from "./testing/agents.ts";

/** The sandbox in which a model looks around is the one in which it works; it is made again only for a reason. */
class LookingWorld extends Agents {
  readonly repository: string = makeRepository(join(this.directory, "shop"));

  async at(server: StrictServer): Promise<void> {
    this.environment["ANTHROPIC_API_KEY"] = "a-key-for-tests";
    for (const [key, value] of Object.entries(strictSettings(server.url))) await this.json("config", "set", key, value);
  }

  async asked(profile: string): Promise<Envelope> {
    const words = ["run", "write a note", "--actor", "anthropic/claude-sonnet-4-5", "--automation-profile", profile];
    const { stdout } = await this.run([...words, "--yes", "--format", "json"], { cwd: this.repository });
    return JSON.parse(stdout) as Envelope;
  }

  readme(): string {
    const [file = ""] = globSync(join(this.dataDir, "sandboxes", "*", "1", "*", "tree", "README"));
    return file;
  }
}

afterEach(() => vi.restoreAllMocks());

const STRATEGY = { steps: [{ id: "note", description: "Write the note", risk: 0.1, confidence: 0.9 }] };

/** Decides, writes a file, and ends; `at` is told before each answer how many came before. */
function script(at: (turn: number) => void): (request: WireRequest) => object {
  return ({ messages }) => {
    const turn = messages.filter(({ role }) => role === "assistant").length;
    at(turn);
    if (turn === 0) return { calls: [{ name: "record_strategy", input: STRATEGY }] };
    if (turn === 1) return { calls: [{ name: "write_file", input: { path: "note.txt", content: "done\n" } }] };
    return { text: "The note is written." };
  };
}

test("the sandbox that was made for the strategy is not written again for its steps", async () => {
  using world = new LookingWorld();
  const seen: number[] = [];
  await using server = await strictServer({ script: script(() => seen.push(statSync(world.readme()).ctimeMs)) });
  await world.at(server);
  const { data, error } = await world.asked("trusted");
  expect([error, data["applied"]]).toEqual([undefined, true]);
  expect(seen).toHaveLength(3);
  expect(new Set(seen).size).toBe(1);
});

test("a sandbox that another process had in between is reset before the steps", async () => {
  using world = new LookingWorld();
  let intruded = false;
  await using server = await strictServer({
    script: script((turn) => {
      if (turn === 2) intruded = existsSync(join(dirname(world.readme()), "intruder.txt"));
    }),
  });
  await world.at(server);
  await using store = await openStore(`sqlite:${world.database}`);
  const other = new PlanLifecycleService({ store });
  // After the strategy and before the steps, another process takes the plan, writes to its sandbox and ends.
  vi.spyOn(PlanLifecycleService.prototype, "startExecute").mockImplementationOnce(async function (
    this: PlanLifecycleService,
    id,
    options,
  ) {
    const lease = await other.startExecute(id);
    writeFileSync(join(dirname(world.readme()), "intruder.txt"), "left behind\n");
    await lease.release();
    return this.startExecute(id, options);
  });
  const { data, error } = await world.asked("trusted");
  expect([error, data["applied"], intruded]).toEqual([undefined, true, false]);
  expect(existsSync(join(world.repository, "intruder.txt"))).toBe(false);
});
