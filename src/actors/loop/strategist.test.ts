import { describe, expect, test } from "vitest";
import { StuckError } from "../../domain/errors/errors.ts";
import type { DecisionId } from "../../domain/names/ids.ts";
import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import { strategize, type Strategist } from "./strategist.ts";
import { PlayedEffects, type Played } from "../testing/played-effects.ts";

const STRATEGIST: Strategist = {
  goal: "Fix it",
  model: { provider: "scripted", model: "x" },
  settings: {},
  system: "the whole briefing",
  resources: ["api", "web"],
  decision: "root" as DecisionId,
  gaveUp: 0,
};

const answer = (...steps: JsonValue[]): Played => ({
  calls: [{ tool: "record_strategy", params: { steps } }],
});
const step = (id: string, more: JsonObject = {}): JsonObject => ({ id, description: `do ${id}`, ...more });

test("steps come with what the model said of them", async () => {
  const effects = new PlayedEffects([
    answer(
      step("a", { risk: 0.5, confidence: 1, complexity: "high", rationale: "why", alternatives: ["b"] }),
      step("b", { needs: ["a"], resources: ["web"] }),
    ),
  ]);
  const { steps, decision } = await strategize(STRATEGIST, effects);
  expect(decision).toBe("decision-1");
  expect(steps).toMatchObject([
    { id: "a", risk: 0.5, confidence: 1, complexity: "high", rationale: "why", alternatives: ["b"], needs: [] },
    { id: "b", needs: ["a"], resources: ["web"], risk: null, confidence: null, complexity: "medium" },
  ]);
  expect(effects.asked).toMatchObject([{ type: "strategy_choice", call: { tools: [{ name: "record_strategy" }] } }]);
});

describe("an answer that cannot be carried out is mended once, then it is the error", () => {
  const many = Array.from({ length: 101 }, (_, index) => step(`s${index}`));
  test.each<[string, Played, RegExp]>([
    ["text", { text: "First do a, then b." }, /You did not call record_strategy/],
    ["nothing", {}, /You did not call record_strategy/],
    ["another tool", { calls: [{ tool: "write_file" }] }, /no tool "write_file" here/],
    ["two strategies", { calls: [...(answer(step("a")).calls ?? []), ...(answer().calls ?? [])] }, /once/],
    ["no JSON", { calls: [{ tool: "record_strategy", raw: "{" }] }, /not a JSON object/],
    ["no steps", answer(), /steps: must have at least one step/],
    ["too many steps", answer(...many), /must not have more than 100 steps/],
    ["a step without description", answer({ id: "a" }), /steps\.0\.description/],
    ["a bad id", answer(step("1 a")), /steps\.0\.id: must be a letter/],
    ["confidence in percent", answer(step("a", { confidence: 80 })), /steps\.0\.confidence/],
    ["the same id twice", answer(step("a"), step("a")), /"a" is the id of two steps/],
    [
      "a need that is not there",
      answer(step("build"), step("b", { needs: ["biuld"] })),
      /no step "biuld"; did you mean "build"\?/,
    ],
    ["a step that needs itself", answer(step("a", { needs: ["a"] })), /cannot need itself/],
    ["a circle", answer(step("a", { needs: ["b"] }), step("b", { needs: ["a"] })), /wait for each other: a → b → a/],
    ["an unknown resource", answer(step("a", { resources: ["wbe"] })), /no resource "wbe"; did you mean "web"\?/],
  ])("%s", async (_, bad, told) => {
    const mended = new PlayedEffects([bad, answer(step("a"))]);
    expect((await strategize(STRATEGIST, mended)).steps).toHaveLength(1);
    const last = mended.asked[1]?.call.messages.at(-1) as { content?: string; output?: string };
    expect(last.content ?? last.output).toMatch(told);

    const effects = new PlayedEffects(() => bad);
    const error = await strategize(STRATEGIST, effects).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StuckError);
    expect((error as Error).message).toMatch(told);
    expect(effects.asked).toHaveLength(2);
    // When the user continues the plan, the model is asked again.
    const again = new PlayedEffects([bad, bad, answer(step("a"))]);
    expect((await strategize({ ...STRATEGIST, gaveUp: 1 }, again)).steps).toHaveLength(1);
  });

  test("what it answered is shown as it is", async () => {
    const error = strategize(STRATEGIST, new PlayedEffects(() => ({ text: "As an AI I would rather not." })));
    await expect(error).rejects.toThrow('It answered: "As an AI I would rather not."');
  });
});
