/** Plans that ask: every view shows the question, it is answered once, and then the plan continues. */
import { expect, test } from "vitest";
import { assess } from "../domain/plan/confidence.ts";
import { openStore } from "../store/sqlite/open-store.ts";
import { pauseFor } from "../plans/plan-questions.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import type { PlanId } from "../domain/names/ids.ts";
import { World } from "./testing/world.ts";
import type { Agents } from "./testing/agents.ts";

const STEPS = `  - { id: hello, tool: write_file, params: { path: hello.txt, content: "hi\\n" } }\n`;
const QUESTION = "Tabs or spaces?";

/** Decided upon, then stopped at a question in the middle of execute. */
async function asking(world: World): Promise<PlanId> {
  const id = (await world.plan(STEPS)) as PlanId;
  await using store = await openStore(`sqlite:${world.agents.database}`);
  const service = new PlanLifecycleService({ store });
  const { recordStrategy, chosenSteps } = await import("../runs/tool-strategy.ts");
  const { findActor } = await import("../store/tables/actors.ts");
  const strategize = await service.startStrategize(id);
  const actor = await store.read((reader) => findActor(reader, "local/greeter" as never));
  if (actor?.type !== "tool") throw new Error("no tool actor");
  await recordStrategy(strategize, chosenSteps(actor, strategize.plan));
  await service.completeStrategize(strategize);
  await service.executePlan(id);
  const lease = await service.startExecute(id);
  const assessment = assess({ successRate: 0.5, familiarity: 0, risk: 0.4, invariantComplexity: 0 });
  const alternatives = ["tabs", "spaces"];
  await pauseFor(lease, { key: "turn/1", question: QUESTION, alternatives, assessment }, "ann");
  return id;
}

async function status(agents: Agents, id: string): Promise<Record<string, unknown>> {
  return (await agents.json("plan", "status", id)).data;
}

test("a plan that asks says so in every view, waits for the answer, and then continues", async () => {
  using world = new World();
  const { agents } = world;
  const id = await asking(world);
  expect(await status(agents, id)).toMatchObject({
    state: "processing",
    owner: null,
    abandoned_by: null,
    awaiting_input: {
      question: QUESTION,
      alternatives: ["tabs", "spaces"],
      phase: "execute",
      confidence: 0.53,
      factors: { risk: 0.4 },
    },
    next_steps: [`agents plan prompt ${id} "<answer>"`, `agents plan cancel ${id}`],
  });
  const { stdout } = await agents.run(["plan", "status", id]);
  expect(stdout).toMatch(/asks:\s+Tabs or spaces\?/);
  expect(stdout).toMatch(/because:\s+Confidence 0\.53$/m);
  const verbose = await agents.run(["plan", "status", id, "-v"]);
  expect(verbose.stdout).toMatch(/because:\s+Confidence 0\.53: 0\.50 \+ success so far/);
  expect((await agents.json("plan", "list")).data).toMatchObject({
    plans: [{ plan_id: id, standing: "waiting for you", awaiting_input: QUESTION }],
  });
  expect((await agents.run(["plan", "list"])).stdout).toContain("waiting for you");

  for (const verb of ["execute", "resume"]) {
    expect(await agents.json("plan", verb, id)).toMatchObject({
      exit_code: 5,
      error: {
        code: "AWAITING_INPUT",
        message: `The plan ${id} waits for an answer: ${QUESTION} (tabs; spaces)`,
        suggestions: [`agents plan prompt ${id} "<answer>"`, `agents plan cancel ${id}`],
      },
    });
  }

  const answered = await agents.json("plan", "prompt", id, "tabs,", "always");
  expect(answered).toMatchObject({
    exit_code: 0,
    data: { plan_id: id, guidance: "tabs, always", answered: QUESTION, next_steps: [`agents plan execute ${id}`] },
  });
  expect(await status(agents, id)).toMatchObject({ awaiting_input: null });
  expect(await agents.json("plan", "execute", id)).toMatchObject({ exit_code: 0, data: { ran: true } });
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
});

test("two answers at once: one is heard, the other is a conflict", async () => {
  using world = new World();
  const { agents } = world;
  const id = await asking(world);
  const both = await Promise.all(["tabs", "spaces"].map((word) => agents.processJson("plan", "prompt", id, word)));
  const codes = both.map(({ exit_code: code }) => code).toSorted((a, b) => a - b);
  // The one that started after the other had ended gives guidance to a plan that asks nothing any more.
  const heard = both.filter(({ data }) => data["answered"] === QUESTION);
  expect(heard).toHaveLength(1);
  expect([
    [0, 0],
    [0, 4],
  ]).toContainEqual(codes);
});

test("guidance without a question is recorded while there is something ahead", async () => {
  using world = new World();
  const { agents } = world;
  const id = await world.plan(STEPS);
  // Before the plan begins, it is guidance for the strategy.
  expect(await agents.json("plan", "prompt", id, "mind the docs")).toMatchObject({
    exit_code: 0,
    data: { answered: null, guidance: "mind the docs" },
  });
  expect(await agents.json("plan", "prompt", id, " ")).toMatchObject({ exit_code: 2 });
  await agents.json("plan", "execute", id);
  expect(await agents.json("plan", "prompt", id, "too late")).toMatchObject({ exit_code: 1, error: { code: "PLAN" } });
  await agents.json("plan", "rollback", id, "start", "--yes");
  expect(await agents.json("plan", "prompt", id, "mind the tests")).toMatchObject({
    exit_code: 0,
    data: { answered: null, guidance: "mind the tests" },
  });
});

test("a tool actor's plan is executed at once with every profile", async () => {
  using world = new World();
  const id = await world.plan(STEPS, "--automation-profile", "manual");
  expect(await world.agents.json("plan", "execute", id)).toMatchObject({
    exit_code: 0,
    data: { ran: true, phase: "execute", state: "complete" },
  });
});
