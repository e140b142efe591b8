import { describe, expect, test } from "vitest";
import { StuckError } from "../../domain/errors/errors.ts";
import type { DecisionId } from "../../domain/names/ids.ts";
import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import { controlTools } from "./control-tools.ts";
import { strategize, type Strategist, type DecidedStrategy } from "./strategist.ts";
import { PlayedEffects, type Played } from "../testing/played-effects.ts";

const READ = { name: "read_file", description: "reads", parameters: {} };
const WRITE = { name: "write_file", description: "writes", parameters: {} };

const STRATEGIST: Omit<Strategist, "accept"> = {
  talk: {
    model: { provider: "scripted", model: "x" },
    settings: {},
    system: "how to work",
    tools: [READ, WRITE, ...controlTools(false)],
    memory: {},
    responseSchema: undefined,
    window: undefined,
    count: (text) => text.length,
  },
  before: [],
  opening: { role: "user", content: "The goal is to fix it" },
  wish: "Decide how this is done: Fix it",
  resources: ["api", "web"],
  readable: new Set(["read_file"]),
  decision: "root" as DecisionId,
  gaveUp: 0,
};

/** The strategy that was accepted. */
async function decided(strategist: Omit<Strategist, "accept">, effects: PlayedEffects): Promise<DecidedStrategy> {
  let accepted: DecidedStrategy | undefined;
  const accept = async (strategy: DecidedStrategy): Promise<boolean> => {
    accepted = strategy;
    return true;
  };
  await strategize({ ...strategist, accept }, effects);
  if (accepted === undefined) throw new Error("no strategy was accepted");
  return accepted;
}

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
  const { steps, decision } = await decided(STRATEGIST, effects);
  expect(decision).toBe("decision-1");
  expect(steps).toMatchObject([
    { id: "a", risk: 0.5, confidence: 1, complexity: "high", rationale: "why", alternatives: ["b"], needs: [] },
    { id: "b", needs: ["a"], resources: ["web"], risk: null, confidence: null, complexity: "medium" },
  ]);
  expect(effects.asked).toMatchObject([{ type: "strategy_choice", call: { system: "how to work" } }]);
});

describe("an answer that cannot be carried out is mended once, then it is the error", () => {
  const many = Array.from({ length: 101 }, (_, index) => step(`s${index}`));
  test.each<[string, Played, RegExp]>([
    ["text", { text: "First do a, then b." }, /You did not call record_strategy/],
    ["nothing", {}, /You did not call record_strategy/],
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
    expect((await decided(STRATEGIST, mended)).steps).toHaveLength(1);
    const last = mended.asked[1]?.call.messages.at(-1) as { content?: string; output?: string };
    expect(last.content ?? last.output).toMatch(told);

    const effects = new PlayedEffects(() => bad);
    const error = await decided(STRATEGIST, effects).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StuckError);
    expect((error as Error).message).toMatch(told);
    expect(effects.asked).toHaveLength(2);
    // Told to go on, it is asked again.
    const again = new PlayedEffects([bad, bad, answer(step("a"))]);
    expect((await decided({ ...STRATEGIST, gaveUp: 1 }, again)).steps).toHaveLength(1);
  });

  test("what it answered is shown as it is", async () => {
    const error = decided(STRATEGIST, new PlayedEffects(() => ({ text: "As an AI I would rather not." })));
    await expect(error).rejects.toThrow('It answered: "As an AI I would rather not."');
  });
});

describe("it looks before it decides", () => {
  const look: Played = { calls: [{ tool: "read_file", params: { path: "a" } }] };

  test("with the tools that only read; what it looked at is a decision of its own kind", async () => {
    const effects = new PlayedEffects([look, answer(step("a"))], () => ({ ok: true, output: "text of a" }));
    await decided(STRATEGIST, effects);
    expect(effects.called.map(({ call }) => call.tool)).toEqual(["read_file"]);
    expect(effects.asked.map(({ type }) => type)).toEqual(["resource_selection", "strategy_choice"]);
    expect(effects.asked[1]?.call.messages.at(-1)).toMatchObject({ output: "text of a" });
    // The same bytes in front, so that the provider need not read them again.
    const [first, second] = effects.asked;
    expect(second?.call.tools).toEqual(first?.call.tools);
    expect(second?.call.messages.slice(0, 2)).toEqual(first?.call.messages);
  });

  test("a tool that writes is refused and not called", async () => {
    const effects = new PlayedEffects([{ calls: [{ tool: "write_file", params: {} }] }, answer(step("a"))]);
    await decided(STRATEGIST, effects);
    expect(effects.called).toEqual([]);
    expect(effects.asked[1]?.call.messages.at(-1)).toMatchObject({ output: expect.stringMatching(/no strategy yet/) });
  });

  test("a question is answered in words, without steps", async () => {
    const effects = new PlayedEffects([{ calls: [{ tool: "record_strategy", params: { answer: "It is 42." } }] }]);
    const { steps } = await decided(STRATEGIST, effects);
    expect(steps).toMatchObject([{ id: "answer", answer: "It is 42.", risk: 0 }]);
  });

  test("a strategy that the user wants different is recorded again in the same conversation", async () => {
    const effects = new PlayedEffects([answer(step("a")), answer(step("b"))]);
    effects.says.set("2", ["Without a."]);
    const seen: string[] = [];
    await strategize(
      {
        ...STRATEGIST,
        accept: async ({ steps }) => {
          seen.push(...steps.map(({ id }) => id));
          return seen.length === 2;
        },
      },
      effects,
    );
    expect(seen).toEqual(["a", "b"]);
    const roles = effects.asked[1]?.call.messages.map(({ role }) => role);
    expect(roles).toEqual(["user", "user", "assistant", "tool", "user"]);
  });
});
