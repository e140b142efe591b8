import { describe, expect, test } from "vitest";
import type { Asked } from "../actors/loop/actor-effects.ts";
import { ModelError } from "../actors/models/model-error.ts";
import { ModelGateway } from "../actors/model-gateway.ts";
import type { ModelCall } from "../actors/models/model.ts";
import { DecisionPhaseViolationError, StaleLeaseError } from "../domain/errors/errors.ts";
import { monotonicIds, type DecisionId } from "../domain/names/ids.ts";
import { decided } from "../execution/testing/decide.ts";
import { ChangesetStore } from "../ledger/changesets.ts";
import { findDecisions, insertDecision } from "../ledger/decisions.ts";
import type { Lease } from "../ledger/leases.ts";
import { modelCallsOf, planUsage } from "../ledger/model-calls.ts";
import { actionInput, planAt } from "../testing/fixtures.ts";
import { TemporaryStore } from "../testing/temporary-store.ts";
import type { PricedModels } from "../actors/models/budgeted-models.ts";
import { StepEffects, type EffectsParts } from "./step-effects.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";

const MODEL = { provider: "scripted", model: "x" };
const ASKED: Asked = {
  model: MODEL,
  system: "be good",
  messages: [{ role: "user", content: "hello" }],
  tools: [],
  settings: {},
};

/** A model that counts how often it is asked. */
class Counting implements PricedModels {
  readonly calls: ModelCall[] = [];
  fails: ModelError | undefined;

  async call(call: ModelCall): ReturnType<PricedModels["call"]> {
    this.calls.push(call);
    const { system, messages, tools, settings } = call;
    call.onShown?.({ system: system.replace("good", "[masked]"), messages, tools, settings });
    if (this.fails !== undefined) throw this.fails;
    const usage = { inputTokens: 10, outputTokens: 2, estimated: false };
    const used = { model: MODEL, durationMs: 5, error: undefined, usage, mayBeBilled: true };
    return {
      text: `answer ${this.calls.length}`,
      // A value that JSON changes must not stop the step.
      toolCalls: [{ id: "1", tool: "t", params: undefined, raw: "-0" }],
      usage,
      finish: "tool_calls",
      model: MODEL,
      durationMs: 5.4,
      attempts: [{ ...used, error: "broke off" }, used],
      masked: 1,
    };
  }

  windowOf(): number | undefined {
    return undefined;
  }

  outputTokensOf(): number {
    return 8_192;
  }

  costOf(): number {
    return 7;
  }
}

async function setting(kind: "execute/processing" | "strategize/processing" = "execute/processing") {
  const temporary = await TemporaryStore.open("memory");
  const service = new PlanLifecycleService({ store: temporary.store });
  await service.createAction(actionInput());
  const { id, lease } = await planAt(service, kind, { ttlMs: 600_000 });
  if (lease === undefined) throw new Error("no lease was taken");
  const [[one] = []] = await decided(lease, [[{ id: "write", tool: "read_file", params: {} }]]);
  const parent = one?.decision as DecisionId;
  const models = new Counting();
  const effects = (more: Partial<EffectsParts> = {}): StepEffects =>
    new StepEffects({
      lease,
      step: "write",
      order: [0, 0],
      recorded: 0,
      models,
      place: undefined,
      signal: new AbortController().signal,
      tell: () => undefined,
      heard: 0,
      user: "anna",
      ...more,
    });
  const decisions = () => temporary.store.read((reader) => findDecisions(reader, id, 1));
  return {
    id,
    store: temporary.store,
    service,
    lease,
    parent,
    models,
    effects,
    decisions,
    about: { type: "tool_invocation", question: "What now?", parent } as const,
    [Symbol.asyncDispose]: async () => {
      lease.stop();
      await temporary[Symbol.asyncDispose]();
    },
  };
}

test("an answer is recorded with the decision, exactly what the model was shown, and what it cost; asked again it is only read", async () => {
  await using s = await setting();
  const first = await s.effects().ask("1", ASKED, s.about);
  const again = await s.effects().ask("1", { ...ASKED, system: "something else" }, s.about);
  expect(again).toEqual(first);
  expect(s.models.calls).toHaveLength(1);
  expect(first.answer).toMatchObject({ text: "answer 1", toolCalls: [{ raw: "-0" }] });
  const decision = (await s.decisions()).find(({ id }) => id === first.decision);
  expect(decision).toMatchObject({
    type: "tool_invocation",
    parent: s.parent,
    chosen: { calls: [{ tool: "t", params: "-0" }] },
    thought: { rationale: "answer 1", reasoning: "answer 1", snapshot: expect.stringMatching(/^[0-9a-f]{64}$/) },
  });
  const shown = await new ChangesetStore(s.store).content(decision?.thought.snapshot ?? "");
  // Its keys are in order, and it is what went out, not what was meant to.
  expect(Buffer.from(shown ?? []).toString("utf8")).toBe(
    '{"messages":[{"content":"hello","role":"user"}],"model":{"model":"x","provider":"scripted"},"response_schema":null,"settings":{},"system":"be [masked]","tools":[]}',
  );
  const calls = await s.store.read((reader) => modelCallsOf(reader, s.id, 1));
  // Both tries were paid for.
  expect(calls.get(first.decision)).toMatchObject({ inputTokens: 20, outputTokens: 4, cost: 14, tries: 2, masked: 1 });
});

test("when any of it cannot be recorded, none of it is", async () => {
  await using s = await setting();
  const stranger = { ...s.about, parent: "01ZZZZZZZZZZZZZZZZZZZZZZZZ" as DecisionId };
  await expect(s.effects().ask("1", ASKED, stranger)).rejects.toThrow("FOREIGN KEY");
  const rows = await s.store.read(async (reader) => [
    await reader.all("SELECT 1 FROM steps"),
    await reader.all("SELECT 1 FROM contents"),
    await reader.all("SELECT 1 FROM model_calls"),
  ]);
  expect(rows).toEqual([[], [], []]);
});

test("under a lease that is lost nothing is recorded", async () => {
  await using s = await setting();
  await s.store.transaction((tx) => tx.run("UPDATE leases SET epoch = epoch + 1"));
  await expect(s.effects().ask("1", ASKED, s.about)).rejects.toBeInstanceOf(StaleLeaseError);
  expect(await s.decisions()).toHaveLength(2);
  expect(await s.store.read((reader) => planUsage(reader, s.id))).toMatchObject({ calls: 0 });
});

test("a call that failed is not recorded as an answer, but what it was billed is", async () => {
  await using s = await setting();
  const usage = { inputTokens: 5, outputTokens: 1, estimated: true };
  const attempts = [
    { model: MODEL, durationMs: 3, error: "cut", usage, mayBeBilled: true },
    { model: MODEL, durationMs: 1, error: "no", usage: undefined, mayBeBilled: false },
  ];
  s.models.fails = new ModelError("network", "The connection broke.", { model: MODEL, attempts });
  await expect(s.effects().ask("1", ASKED, s.about)).rejects.toThrow("The connection broke.");
  expect(await s.store.read((reader) => planUsage(reader, s.id))).toMatchObject({
    calls: 1,
    failedCalls: 1,
    inputTokens: 5,
    cost: 7,
  });
  s.models.fails = undefined;
  expect((await s.effects().ask("1", ASKED, s.about)).answer.text).toBe("answer 2");
});

test("the same question at the same time is asked once; twenty different ones get twenty numbers without a gap", async () => {
  await using s = await setting();
  const effects = s.effects();
  const same = await Promise.all(Array.from({ length: 20 }, () => effects.ask("same", ASKED, s.about)));
  expect(new Set(same.map(({ decision }) => decision)).size).toBe(1);
  expect(s.models.calls).toHaveLength(1);
  await Promise.all(Array.from({ length: 20 }, (_, index) => s.effects().ask(`k${index}`, ASKED, s.about)));
  const sequences = (await s.decisions()).map(({ sequence }) => sequence);
  expect(sequences).toEqual(Array.from({ length: 23 }, (_, index) => index + 1));
});

test("keys of any length are told apart", async () => {
  await using s = await setting();
  const effects = s.effects();
  const long = "sub/".repeat(200);
  const answers = [`${long}1`, `${long}2`].map((key) => effects.once(key, () => Promise.resolve(key)));
  expect(await Promise.all(answers)).toEqual([`${long}1`, `${long}2`]);
  expect(await effects.once(`${long}1`, () => Promise.reject(new Error("again")))).toBe(`${long}1`);
});

test("no tool can be called while a strategy is made", async () => {
  await using s = await setting("strategize/processing");
  const call = { tool: "write_file", params: {}, decision: s.parent };
  expect(await s.effects().callTool("1", call)).toMatchObject({ ok: false });
});

describe("what does not belong into the plan's phase is refused", () => {
  test("in the transaction that records it", async () => {
    await using s = await setting();
    const about = { ...s.about, type: "prompt_definition" } as const;
    const error: unknown = await s
      .effects()
      .ask("1", ASKED, about)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DecisionPhaseViolationError);
    expect((error as DecisionPhaseViolationError).detail).toEqual({
      decision_type: "prompt_definition",
      plan_phase: "execute",
      allowed_types: expect.arrayContaining(["tool_invocation", "user_intervention"]),
    });
  });

  test("also when the plan moved on meanwhile", async () => {
    await using s = await setting("strategize/processing");
    await s.service.completeStrategize(s.lease as Lease<"strategize">);
    await s.service.executePlan(s.id);
    const late = {
      planId: s.id,
      attempt: 1,
      phase: "strategize",
      step: undefined,
      needs: [],
      parent: s.parent,
    } as const;
    const more = { ...late, type: "prompt_definition", question: "?", chosen: {} } as const;
    await expect(s.store.transaction((tx) => insertDecision(tx, monotonicIds(), more))).rejects.toBeInstanceOf(
      DecisionPhaseViolationError,
    );
  });
});

test("what is recorded of a real call is what the gateway sends: with secrets masked", async () => {
  const secret = "sk-proj-openai0openai1openai2openai3";
  const gateway = new ModelGateway({ settings: new Map(), environment: { OPENAI_API_KEY: secret }, count: () => 1 });
  const call = { ...ASKED, system: `The key is ${secret}.`, model: { provider: "scripted", model: "nowhere.yaml" } };
  let seen = "";
  await gateway
    .call({ ...call, signal: new AbortController().signal, onShown: ({ system }) => (seen = system) })
    .catch(() => undefined);
  expect(seen).toContain("The key is ");
  expect(seen).not.toContain(secret);
});
