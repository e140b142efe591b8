/**
 * A graph that is killed at any step: another process continues, repeats no recorded step, and reaches the same result.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openStore } from "../../store/sqlite/open-store.ts";
import { PlanLifecycleService } from "../../plans/plan-lifecycle-service.ts";
import type { PlanId } from "../../domain/names/ids.ts";
import type { Store } from "../../store/port.ts";
import { actionInput, planAt } from "../../testing/fixtures.ts";
import { Program } from "../../testing/program.ts";
import { TemporaryStore } from "../../testing/temporary-store.ts";
import type { GraphOutcome } from "./run-graph.ts";
import { countingModel, type CountingModel } from "./testing/counting-model.ts";
import { runThirtySteps } from "./testing/thirty-steps.ts";
import { sized } from "../../testing/size.ts";

/** Of the moments at which a process can be killed, every so many-th is tried. */
const STRIDE = sized({ normal: 3, full: 1 });
const FIRST = Math.floor(Math.random() * STRIDE);
console.log(`every ${STRIDE}. moment, from number ${FIRST}`);
const STEPS = 30;
/** Processes at a time: each spends most of its time starting. */
const AT_ONCE = 3;
/** Starting a process takes a second, and many more on a machine that others use too. */
const TIMEOUT = { timeout: 600_000 };

interface World {
  readonly temporary: TemporaryStore;
  readonly service: PlanLifecycleService;
  readonly model: CountingModel;
  readonly toolLog: string;
}

interface Ended {
  readonly outcome: GraphOutcome;
  readonly records: ReadonlyMap<string, string>;
}

test(`killed after every ${STRIDE}. step`, TIMEOUT, async () => {
  await using temporary = await TemporaryStore.open("file");
  await using model = await countingModel();
  const world = await worldOf(temporary, model);
  const undisturbed = await undisturbedRun(world);
  expect(undisturbed.records.size).toBe(STEPS);
  await parallel(STEPS / STRIDE, async (index) => {
    const recorded = index * STRIDE + 1 + FIRST;
    const { id } = await planAt(world.service, "execute/queued");
    await using runner = start(world, id, recorded);
    await runner.exit();
    await goesOn(world, id, { undisturbed, recorded, inFlight: 2 });
  });
});

test(`killed while a question is under way, at every ${STRIDE}. question`, TIMEOUT, async () => {
  await using temporary = await TemporaryStore.open("file");
  await using model = await countingModel();
  const world = await worldOf(temporary, model);
  const undisturbed = await undisturbedRun(world);
  const asked = [...undisturbed.records.keys()].filter((key) => /ask-\d+$/.test(key));
  const questions = asked.filter((_, index) => index % STRIDE === FIRST);
  expect(questions.length).toBeGreaterThanOrEqual(Math.max(1, Math.floor(asked.length / STRIDE)));
  await parallel(questions.length, async (index) => {
    const { id } = await planAt(world.service, "execute/queued");
    const come = model.hold(`${id}${questions[index] ?? ""}`);
    await using runner = start(world, id, STEPS + 1);
    await come;
    runner.kill("SIGKILL");
    await runner.exit();
    await goesOn(world, id, { undisturbed, recorded: undefined, inFlight: 3 });
  });
});

async function worldOf(temporary: TemporaryStore, model: CountingModel): Promise<World> {
  const service = new PlanLifecycleService({ store: temporary.store });
  await service.createAction(actionInput());
  return { temporary, service, model, toolLog: join(temporary.directory, "tools") };
}

async function undisturbedRun(world: World): Promise<Ended> {
  const { id } = await planAt(world.service, "execute/queued");
  return await ended(world, world.temporary.store, id);
}

function start({ temporary, model, toolLog }: World, id: PlanId, killAfter: number): Program {
  const args = [temporary.store.url, id, model.url, toolLog, String(killAfter)];
  return new Program("graph-runner", args, join(temporary.directory, `output-${id}`));
}

/** Takes the plan over from its dead owner, in a store that is opened again, as another process would do it. */
async function goesOn(
  world: World,
  id: PlanId,
  { undisturbed, recorded, inFlight }: { undisturbed: Ended; recorded: number | undefined; inFlight: number },
): Promise<void> {
  await using store = await openStore(world.temporary.store.url);
  // As if the time of the lease had passed.
  await store.transaction(async (tx) => await tx.run("UPDATE leases SET expires_at = 0 WHERE plan_id = ?", id));
  const before = await recordsOf(store, id);
  // Steps of a round are recorded side by side: of those, more than the last may be there.
  if (recorded !== undefined) expect(before.size - recorded).toSatisfy((more: number) => more >= 0 && more <= 2);
  const done = (key: string): number => (world.model.asked.get(`${id}${key}`) ?? 0) + toolCalls(world, `${id}${key}`);
  for (const key of before.keys()) expect([key, done(key)]).toEqual([key, 1]);

  const { outcome, records } = await ended(world, store, id);
  expect(outcome).toEqual(undisturbed.outcome);
  expect(records).toEqual(undisturbed.records);
  for (const key of before.keys()) expect([key, done(key)]).toEqual([key, 1]);
  const repeated = [...records.keys()].filter((key) => done(key) > 1);
  expect(repeated.length).toBeLessThanOrEqual(inFlight);
  for (const key of repeated) expect([key, done(key)]).toEqual([key, 2]);
}

async function ended({ model, toolLog }: World, store: Store, id: PlanId): Promise<Ended> {
  const service = new PlanLifecycleService({ store });
  const lease = await service.startExecute(id);
  const outcome = await runThirtySteps({ lease, modelUrl: model.url, toolLog });
  await service.completeExecute(lease);
  return { outcome, records: await recordsOf(store, id) };
}

/** The recorded steps by key, without the plan's own keys. */
async function recordsOf(store: Store, id: PlanId): Promise<ReadonlyMap<string, string>> {
  const rows = await store.read((reader) =>
    reader.all<{ key: string; result: string }>(
      "SELECT key, result FROM steps WHERE plan_id = ? AND phase = 'execute' ORDER BY key",
      id,
    ),
  );
  return new Map(rows.map(({ key, result }) => [key.slice(id.length), result]));
}

function toolCalls({ toolLog }: World, key: string): number {
  return readFileSync(toolLog, "utf8")
    .split("\n")
    .filter((line) => line === key).length;
}

async function parallel(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const loop = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, loop));
}
