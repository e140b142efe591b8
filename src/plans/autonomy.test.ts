/** Where plans stop for a person: by the profile's thresholds and what is on record. */
import { describe, expect, test } from "vitest";
import { afterStrategy, beforeDecision, shouldApply, type Choice } from "./autonomy.ts";
import { AwaitingInputError } from "../domain/errors/errors.ts";
import { familiarity, successRate } from "../ledger/track-record.ts";
import { openQuestion } from "../ledger/questions.ts";
import { PlanLifecycleService } from "./plan-lifecycle-service.ts";
import { ProjectService } from "../catalog/project-service.ts";
import { promptPlan } from "./plan-questions.ts";
import type { Lease } from "../ledger/leases.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { PlanId } from "../domain/names/ids.ts";
import type { Store } from "../store/port.ts";
import { ACTION_NAME, actionInput, moveTo } from "../testing/fixtures.ts";
import { TemporaryStore } from "../testing/temporary-store.ts";
import { parseQualifiedName } from "../domain/names/qualified-name.ts";
import { recordStrategy } from "../runs/tool-strategy.ts";

interface World extends AsyncDisposable {
  readonly store: Store;
  readonly service: PlanLifecycleService;
  readonly use: (profile: string) => Promise<Plan>;
}

async function world(): Promise<World> {
  const temporary = await TemporaryStore.open("memory");
  const { store } = temporary;
  const service = new PlanLifecycleService({ store });
  await service.createAction(actionInput());
  await new ProjectService({ store }).createProject({ name: "shop" });
  const use = (automationProfile: string) =>
    service.useAction({ action: ACTION_NAME, projects: ["shop"], automationProfile });
  return { store, service, use, [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose]() };
}

/** Asked to do something, and deciding how. */
async function strategizing(at: World, profile: string): Promise<Lease<"strategize">> {
  const { id } = await at.use(profile);
  const lease = await at.service.startStrategize(id);
  await recordStrategy(lease, []);
  return lease;
}

async function landed(at: World, times: number): Promise<void> {
  for (let index = 0; index < times; index += 1) {
    const { id } = await at.use("supervised");
    await moveTo(at.service, id, "apply/applied");
  }
}

/** The recorded reasons why the plans continued or asked. */
async function assessments(store: Store): Promise<unknown[]> {
  const rows = await store.read((reader) =>
    reader.all<{ details: string }>("SELECT details FROM events WHERE type = 'plan.assessed' ORDER BY sequence"),
  );
  return rows.map(({ details }) => JSON.parse(details) as unknown);
}

const STEPS = [{ tool: "read_file" }, { tool: "write_file" }];

describe("after strategize", () => {
  test.each([
    ["manual", false],
    ["supervised", false],
    ["review", true],
    ["trusted", true],
    ["ci", true],
  ])("the profile %s continues by itself: %s", async (profile, go) => {
    await using at = await world();
    const plan = await at.use(profile);
    expect(await afterStrategy(at.store, plan, { byModel: true, steps: STEPS })).toMatchObject({ go });
    expect(await afterStrategy(at.store, plan, { byModel: false, steps: STEPS })).toEqual({ go: true });
    expect(await assessments(at.store)).toHaveLength(1);
  });

  test("cautious continues once enough steps went well, unless the steps are too risky", async () => {
    await using at = await world();
    const fresh = await at.use("cautious");
    const before = await afterStrategy(at.store, fresh, { byModel: true, steps: STEPS });
    expect(before).toMatchObject({
      go: false,
      assessment: { confidence: 0.53, factors: { successRate: 0.5, familiarity: 0, risk: 0.4 } },
    });
    await landed(at, 8);
    const after = await afterStrategy(at.store, fresh, { byModel: true, steps: STEPS });
    // 0.3 · 9/10 + 0.2 · 1 + 0.3 · 0.6 + 0.2 · 1
    expect(after).toEqual({ go: true });
    expect(await assessments(at.store)).toMatchObject([
      { outcome: "ask", threshold: 0.8, confidence: 0.53 },
      { outcome: "go", threshold: 0.8, confidence: 0.85, factors: { successRate: 0.9, familiarity: 1, risk: 0.4 } },
    ]);
    const risky = await afterStrategy(at.store, fresh, { byModel: true, steps: [...STEPS, { tool: "shell_execute" }] });
    expect(risky).toMatchObject({ go: false, assessment: { confidence: 0.73 } });
    const told = await afterStrategy(at.store, fresh, { byModel: true, steps: [{ risk: 0.05 }] });
    expect(told).toMatchObject({ go: true });
  });
});

test("apply continues by itself only where the profile says so", async () => {
  await using at = await world();
  const go = async (profile: string) => (await shouldApply(at.store, await at.use(profile), STEPS)).go;
  expect([await go("supervised"), await go("auto"), await go("ci"), await go("full-auto")]).toEqual([
    false,
    false,
    true,
    true,
  ]);
});

const CHOICE: Choice = {
  key: "turn/3",
  question: "How is the cache emptied?",
  chosen: "by age",
  alternatives: ["by size"],
  operation: { kind: "tool", tool: "write_file" },
  step: { tool: "write_file" },
};

describe("before a decision", () => {
  test("that needs a person the plan pauses; with the answer it continues at the same position", async () => {
    await using at = await world();
    const lease = await strategizing(at, "cautious");
    const paused = beforeDecision(lease, CHOICE, "ann");
    await expect(paused).rejects.toBeInstanceOf(AwaitingInputError);
    const { planId } = lease;
    const asked = await at.store.read((reader) => openQuestion(reader, planId));
    expect(asked).toMatchObject({
      key: "turn/3",
      phase: "strategize",
      question: CHOICE.question,
      alternatives: ["by age", "by size"],
      assessment: { confidence: 0.53 },
    });
    const { decision } = await promptPlan(at.store, { planId, text: "by size", answering: asked?.id, user: "ann" });
    const next = await at.service.startStrategize(planId);
    expect(await beforeDecision(next, CHOICE, "ann")).toMatchObject({ answer: decision });
    await expect(beforeDecision(next, { ...CHOICE, key: "turn/4" }, "ann")).rejects.toBeInstanceOf(AwaitingInputError);
  });

  test("the plan does not ask where the profile continues by itself, or where there is nothing to choose", async () => {
    await using at = await world();
    const auto = await strategizing(at, "auto");
    expect(await beforeDecision(auto, CHOICE, "ann")).toMatchObject({ answer: undefined });
    const manual = await strategizing(at, "manual");
    expect(await beforeDecision(manual, { ...CHOICE, alternatives: [] }, "ann")).toMatchObject({ answer: undefined });
    await expect(beforeDecision(manual, CHOICE, "ann")).rejects.toBeInstanceOf(AwaitingInputError);
    auto.stop();
  });
});

test("the track record: new is 0.5, failures and successes move it, undone plans make nothing familiar", async () => {
  await using at = await world();
  const { store, service } = at;
  const operation = { kind: "phase", phase: "execute", action: parseQualifiedName(ACTION_NAME) } as const;
  const rate = () => store.read((reader) => successRate(reader, operation));
  expect(await rate()).toBe(0.5);
  const fail = async (): Promise<PlanId> => {
    const { id } = await at.use("supervised");
    await moveTo(service, id, "execute/errored");
    return id;
  };
  await fail();
  expect(await rate()).toBeCloseTo(1 / 3);
  await landed(at, 2);
  expect(await rate()).toBeCloseTo(3 / 5);
  const plan = await at.use("supervised");
  const known = () => store.read((reader) => familiarity(reader, plan));
  expect(await known()).toBeCloseTo(2 / 5);
  await store.transaction((tx) => tx.run("UPDATE plans SET undone_at = 1 WHERE state = 'applied'"));
  expect(await known()).toBe(0);
  expect(await store.read((reader) => successRate(reader, { kind: "tool", tool: "write_file" }))).toBe(0.5);
});
