/**
 * Clocks that step between commands, back and forth, by up to a day: the files, the plan's state and the exit codes are
 * those of a steady clock. Most sequences run in this process, on services with a given clock that are new for each
 * command, as in a new process; the rest are processes that see another time.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { DataDirectory } from "../platform/data-directory.ts";
import { AgentsError } from "../domain/errors/errors.ts";
import { openStore } from "../store/sqlite/open-store.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import type { Clock, PlanId } from "../domain/names/ids.ts";
import { PlanApplier } from "../apply/plan-applier.ts";
import { findUndoneSteps } from "../ledger/journal.ts";
import { seededRandom } from "../testing/random.ts";
import { Agents, type Envelope } from "./testing/agents.ts";
import { ToolPlan } from "./testing/tool-plan.ts";
import { World, type Step } from "./testing/user-world.ts";
import { sized } from "../testing/size.ts";

const FULL = sized({ normal: false, full: true });
const [IN_PROCESS, BY_PROCESSES] = FULL ? [160, 40] : [4, 1];
const SEED = Number(process.env["CLEVERAGENTS_TEST_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));
const DAY_MS = 86_400_000;
const PRELOAD = fileURLToPath(new URL("../testing/stepped-clock.cjs", import.meta.url));
const STEPS = ["sa", "sb", "sc"] as const;

type Command = { readonly kind: "apply" | "undo" | "redo"; readonly step?: (typeof STEPS)[number] };

/** The result of each command with a steady clock. */
class Model {
  applied = false;
  undone: ReadonlySet<string> = new Set();

  /** The exit code. */
  run({ kind, step }: Command): 0 | 4 {
    const out =
      kind === "undo" ? new Set([...this.undone, ...(step === undefined ? STEPS : [step])]) : new Set<string>();
    const possible = kind === "apply" ? !this.applied : this.applied && out.size !== this.undone.size;
    if (!possible) return 4;
    this.applied = true;
    this.undone = out;
    return 0;
  }
}

/** The results that a person sees. */
interface Seen {
  readonly exit: number;
  readonly undone: readonly string[];
  readonly wholly: boolean;
  readonly files: readonly boolean[];
}

function stepsOf(number: number): Step[] {
  return STEPS.map((id, index) => [
    "write_file",
    { resource: index === 1 ? "notes" : "api", path: `${number}/${id}.txt`, content: `${id} ${number}\n` },
    { id },
  ]);
}

function filesOf(world: World, number: number): boolean[] {
  return STEPS.map((id, index) =>
    existsSync(join(index === 1 ? world.notes : world.repository, `${number}/${id}.txt`)),
  );
}

function expected(model: Model, exit: number): Seen {
  const files = STEPS.map((id) => model.applied && !model.undone.has(id));
  return { exit, undone: [...model.undone].sort(), wholly: model.undone.size === STEPS.length, files };
}

function commands(random: () => number): Command[] {
  const any = (): Command => {
    const dice = random();
    if (dice < 0.35) return { kind: "redo" };
    if (dice < 0.6) return { kind: "undo" };
    return { kind: "undo", step: STEPS[Math.trunc(random() * STEPS.length)] ?? "sa" };
  };
  return [{ kind: "apply" }, ...Array.from({ length: 7 }, any)];
}

async function inProcess(world: World, id: PlanId, number: number, command: Command, clock: Clock): Promise<Seen> {
  await using store = await openStore(`sqlite:${world.agents.database}`, { clock });
  const service = new PlanLifecycleService({ store, clock });
  const applier = new PlanApplier({ store, service, clock, data: new DataDirectory(world.agents.dataDir) });
  const { kind, step } = command;
  const options = step === undefined ? {} : { steps: new Set([step]) };
  const exit = await applier[kind](id, options).then(
    () => 0,
    (error: unknown) => {
      if (!(error instanceof AgentsError)) throw error;
      return error.meaning.exit;
    },
  );
  const plan = await service.getPlan(id);
  const undone = await store.read((reader) => findUndoneSteps(reader, id));
  return { exit, undone, wholly: plan.undoneAt !== undefined, files: filesOf(world, number) };
}

async function byProcess(world: World, id: PlanId, number: number, command: Command, step: number): Promise<Seen> {
  const decision = command.step === undefined ? [] : ["--decision", command.step];
  const words = ["plan", command.kind, id, "--yes", ...decision];
  const { code: exit } = await world.agents.process(words, { env: stepped(step) });
  const { data } = await world.agents.json("plan", "status", id);
  const undone = (data["undone_steps"] ?? []) as string[];
  return { exit: exit ?? -1, undone, wholly: data["undone_at"] !== null, files: filesOf(world, number) };
}

function stepped(ms: number): Record<string, string> {
  return { NODE_OPTIONS: `--require=${PRELOAD}`, TEST_CLOCK_STEP_MS: String(ms) };
}

describe(`undo and redo under a clock that steps (seed ${SEED})`, () => {
  test.each([
    ["services", IN_PROCESS],
    ["processes", BY_PROCESSES],
  ] as const)("by %s: %i sequences", { timeout: 3_600_000 }, async (home, sequences) => {
    const random = seededRandom(SEED);
    const day = (): number => Math.trunc((random() * 2 - 1) * DAY_MS);
    await using world = await World.make();
    for (let number = 0; number < sequences; number += 1) {
      const id = await world.executed(...stepsOf(number));
      const model = new Model();
      const story: [Command, number][] = [];
      for (const command of commands(random)) {
        const step = day();
        story.push([command, step]);
        const seen =
          home === "services"
            ? await inProcess(world, id, number, command, () => Date.now() + step)
            : await byProcess(world, id, number, command, step);
        const exit = model.run(command);
        expect({ story, ...seen }).toEqual({ story, ...expected(model, exit) });
      }
    }
    expect((await world.agents.json("audit", "verify")).exit_code).toBe(0);
  });
});

/** Waits until the database says so. */
async function until(agents: Agents, question: string): Promise<void> {
  for (;;) {
    if (existsSync(agents.database)) {
      using database = new DatabaseSync(agents.database, { readOnly: true });
      if (database.prepare(question).get() !== undefined) return;
    }
    await sleep(20);
  }
}

describe("an execution that began in a future that never came", () => {
  const steps = `  - { id: one, tool: write_file, params: { path: one.txt, content: "1\\n" } }
  - { id: two, tool: shell_execute, params: { command: "sleep 3; echo 2 > two.txt" }, needs: [one] }
  - { id: three, tool: write_file, params: { path: three.txt, content: "3\\n" }, needs: [two] }
`;
  const begun = "SELECT 1 FROM tool_invocations WHERE step = 'two' AND outcome IS NULL";

  test("and was interrupted: once it is finished, the tree says done", async () => {
    using agents = new Agents();
    const plan = await ToolPlan.make(agents, steps);
    const { child, finished } = agents.start(["plan", "execute", plan.id], { env: stepped(DAY_MS) });
    await until(agents, begun);
    child.kill("SIGINT");
    expect((await finished).code).not.toBe(0);
    expect((await agents.json("plan", "execute", plan.id)).exit_code).toBe(0);
    const { data } = await agents.json("plan", "tree", plan.id);
    const { children } = data["tree"] as { children: { step: string; state: string }[] };
    expect(children.map(({ step, state }) => `${step} ${state}`)).toEqual(["one done", "two done", "three done"]);
  });

  test("and was killed: the next command goes on at once, and no second of the day is waited", async () => {
    using agents = new Agents();
    const plan = await ToolPlan.make(agents, steps);
    const { child, finished } = agents.start(["plan", "execute", plan.id], { env: stepped(DAY_MS), group: true });
    await until(agents, begun);
    process.kill(-(child.pid ?? 0), "SIGKILL");
    await finished;
    expect((await agents.json("plan", "status", plan.id)).data).toMatchObject({ state: "processing" });
    expect(await agents.json("plan", "execute", plan.id)).toMatchObject({ exit_code: 0, data: { state: "complete" } });
    expect(plan.file("two.txt")).toBe("2\n");
  });
});

test("plans are listed in the order in which they were made, also if the clock stepped", async () => {
  using agents = new Agents();
  const ids = [await agents.withPlan()];
  for (const step of [DAY_MS, -DAY_MS, 0]) {
    const words = ["plan", "use", "fix-bug", "shop", "--arg", "issue=42", "--format", "json"];
    const { stdout } = await agents.process(words, { env: stepped(step) });
    ids.push(String((JSON.parse(stdout) as Envelope).data["plan_id"]));
  }
  const { data } = await agents.json("plan", "list");
  expect((data["plans"] as { plan_id: string }[]).map(({ plan_id: id }) => id)).toEqual(ids.toReversed());
});
