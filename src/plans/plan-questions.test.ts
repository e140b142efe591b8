/** A plan that asks waits; one answer counts; the words of people are stored and reach the next worker. */
import { describe, expect, test } from "vitest";
import {
  AwaitingInputError,
  ConflictError,
  PlanError,
  StaleLeaseError,
  ValidationError,
} from "../domain/errors/errors.ts";
import { guidanceOf, pauseFor, promptPlan } from "./plan-questions.ts";
import { openQuestion } from "../ledger/questions.ts";
import { PlanLifecycleService } from "./plan-lifecycle-service.ts";
import { subscribeEvents } from "../ledger/event-log.ts";
import { verifyAudit } from "../store/tables/audit-verification.ts";
import type { Lease } from "../ledger/leases.ts";
import type { PlanId } from "../domain/names/ids.ts";
import type { Store } from "../store/port.ts";
import { ACTION_NAME, actionInput } from "../testing/fixtures.ts";
import { TemporaryStore } from "../testing/temporary-store.ts";
import { recordStrategy } from "../runs/tool-strategy.ts";
import { nextStep } from "../domain/errors/next-step.ts";

const ASKING = { key: "choice/1", question: "Which one?", alternatives: ["this", "that"], assessment: undefined };

interface World extends AsyncDisposable {
  readonly store: Store;
  readonly service: PlanLifecycleService;
  readonly lease: Lease<"execute">;
  readonly id: PlanId;
}

async function world(kind: "memory" | "file" = "memory"): Promise<World> {
  const temporary = await TemporaryStore.open(kind);
  const { store } = temporary;
  const service = new PlanLifecycleService({ store });
  await service.createAction(actionInput());
  const { id } = await service.useAction({ action: ACTION_NAME });
  const strategize = await service.startStrategize(id);
  await recordStrategy(strategize, []);
  await service.completeStrategize(strategize);
  await service.executePlan(id);
  const lease = await service.startExecute(id);
  return { store, service, lease, id, [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose]() };
}

const open = (store: Store, id: PlanId) => store.read((reader) => openQuestion(reader, id));

test("asking gives the lease up; nothing starts until a person answers, and the answer reaches the next worker", async () => {
  await using at = await world();
  const { store, service, lease, id } = at;
  const error = await pauseFor(lease, ASKING, "ann");
  expect(error).toBeInstanceOf(AwaitingInputError);
  expect(error).toMatchObject({
    code: "awaiting_input",
    message: `The plan ${id} waits for an answer: Which one? (this; that)`,
    next: [nextStep("plan.prompt", { plan: id, text: "<answer>" }), nextStep("plan.cancel", { plan: id })],
  });
  await expect(lease.renew()).rejects.toBeInstanceOf(StaleLeaseError);
  await expect(service.startExecute(id)).rejects.toMatchObject({ code: "awaiting_input" });
  expect((await service.listPlans()).plans).toMatchObject([{ id, awaiting: "Which one?" }]);

  const asked = await open(store, id);
  const said = await promptPlan(store, { planId: id, text: " that one ", answering: asked?.id, user: "ann" });
  expect(said.answered).toEqual(asked);
  expect(await open(store, id)).toBeUndefined();
  const next = await service.startExecute(id);
  expect(await store.read((reader) => guidanceOf(reader, { id }))).toMatchObject([
    { decision: said.decision, question: "Which one?", text: "that one" },
  ]);
  next.stop();
  const types: string[] = [];
  for await (const event of subscribeEvents(store, { after: 0, planId: id })) {
    types.push(event.type);
    if (event.type === "plan.answered") break;
  }
  expect(types).toContain("plan.awaiting_input");
  expect((await verifyAudit(store, { at: Date.now() })).problem).toBeUndefined();
});

test("a worker that lost the lease cannot ask", async () => {
  await using at = await world();
  await at.lease.release();
  await expect(pauseFor(at.lease, ASKING, "ann")).rejects.toBeInstanceOf(StaleLeaseError);
  expect(await open(at.store, at.id)).toBeUndefined();
});

test("of many answers to one question one counts, the others conflict and leave nothing", async () => {
  await using at = await world("file");
  const { store, lease, id } = at;
  await pauseFor(lease, ASKING, "ann");
  const answering = (await open(store, id))?.id;
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) =>
      promptPlan(store, { planId: id, text: `answer ${index}`, answering, user: "ann" }),
    ),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const one of outcomes) if (one.status === "rejected") expect(one.reason).toBeInstanceOf(ConflictError);
  expect(await store.read((reader) => guidanceOf(reader, { id }))).toHaveLength(1);
});

describe("without a question", () => {
  test("guidance is recorded in order and survives a rollback and another attempt", async () => {
    await using at = await world();
    const { store, service, lease, id } = at;
    const say = (text: string) => promptPlan(store, { planId: id, text, answering: undefined, user: "ann" });
    expect((await say("mind the tests")).answered).toBeUndefined();
    await say("and the docs");
    await lease.release();
    await service.rollbackPlan(id, "start");
    const texts = async () => (await store.read((reader) => guidanceOf(reader, { id }))).map(({ text }) => text);
    expect(await texts()).toEqual(["mind the tests", "and the docs"]);
    const again = await service.startExecute(id);
    await service.failExecute(again, { message: "no" });
    await service.revertPlan(id);
    expect(await texts()).toEqual(["mind the tests", "and the docs"]);
  });

  test("a plan that has not begun is told at its beginning", async () => {
    await using at = await world();
    const { id } = await at.service.useAction({ action: ACTION_NAME });
    await promptPlan(at.store, { planId: id, text: "hello", answering: undefined, user: "ann" });
    const said = await at.store.read((reader) => guidanceOf(reader, { id }));
    expect(said).toMatchObject([{ text: "hello", question: undefined }]);
  });

  test("a plan that is executed without a model, applied or cancelled has no step that guidance could reach", async () => {
    await using at = await world();
    const { store, service, lease, id } = at;
    const unheard = async (planId: PlanId) => {
      const said = promptPlan(store, { planId, text: "hello", answering: undefined, user: "ann" });
      await expect(said).rejects.toBeInstanceOf(PlanError);
    };
    await service.completeExecute(lease);
    await unheard(id);
    await service.applyPlan(id);
    await unheard(id);
    await service.cancelPlan(id);
    await unheard(id);
  });

  test("nothing, or what cannot be stored, is refused", async () => {
    await using at = await world();
    for (const text of ["", "  ", "a\0b"]) {
      const said = promptPlan(at.store, { planId: at.id, text, answering: undefined, user: "ann" });
      await expect(said).rejects.toBeInstanceOf(ValidationError);
    }
  });
});

test.each(["cancelPlan", "rollbackPlan"] as const)("%s takes the question back", async (operation) => {
  await using at = await world();
  const { store, service, lease, id } = at;
  await pauseFor(lease, ASKING, "ann");
  const answering = (await open(store, id))?.id;
  if (operation === "cancelPlan") await service.cancelPlan(id);
  else await service.rollbackPlan(id, "start");
  expect(await open(store, id)).toBeUndefined();
  const late = promptPlan(store, { planId: id, text: "this", answering, user: "ann" });
  await expect(late).rejects.toBeInstanceOf(ConflictError);
});
