import * as z from "zod";
import { listIssues, StuckError, type ValidationIssue } from "../../domain/errors/errors.ts";
import type { DecisionId } from "../../domain/names/ids.ts";
import type { JsonObject } from "../../domain/values/json.ts";
import { firstCycles } from "../../domain/actor/step-graph.ts";
import { nearest } from "../../domain/text/suggest.ts";
import { shown } from "../../domain/text/text.ts";
import type { ActorHands, Told } from "./actor-effects.ts";
import {
  answerMessage,
  type ModelMessage,
  type ModelRef,
  type ModelSettings,
  type ModelTool,
} from "../models/model.ts";
import { nameOf } from "./worker.ts";

/** A model that decides how a plan is carried out: steps, what each needs, and why. It answers by a tool, which every provider has. */
export interface Strategist {
  readonly goal: string;
  readonly model: ModelRef;
  readonly settings: ModelSettings;
  readonly system: string;
  /** Aliases of the plan. */
  readonly resources: readonly string[];
  /** What the plan is asked to do. */
  readonly decision: DecisionId;
  /** How often it gave up before; each time somebody had it try again. */
  readonly gaveUp: number;
}

export const STRATEGIST_ROLE = `You decide how the goal below is reached; others carry it out. Answer by calling record_strategy once.

- Few steps, each of them a piece of work with a result that can be seen. One step is enough for a small change.
- Steps that name each other in "needs" run one after the other; steps that do not may run at the same time, and must then not change the same file.
- Say for each step how sure you are that it is right (confidence) and how much can go wrong (risk), both from 0 to 1.
- Nothing that is in no step will be done, tests and documentation included.`;

const STEP_LIMIT = 100;
const TEXT_LIMIT = 20_000;
const line = z.string().trim().min(1).max(TEXT_LIMIT);
const share = z.number().min(0).max(1);

const stepSchema = z.object({
  id: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_-]{0,59}$/, { message: 'must be a letter, then up to 59 letters, digits, "_" or "-"' })
    .describe("short name of the step, such as write-tests"),
  description: line.describe("what is to be done, for somebody who knows only the goal"),
  needs: z.array(z.string()).max(STEP_LIMIT).default([]).describe("ids of the steps that must be done before"),
  resources: z.array(z.string()).max(STEP_LIMIT).default([]).describe("names of the resources it works on"),
  complexity: z.enum(["low", "medium", "high"]).default("medium"),
  risk: share.nullable().default(null),
  confidence: share.nullable().default(null),
  rationale: z.string().max(TEXT_LIMIT).default("").describe("why it is done, and done so"),
  alternatives: z.array(line).max(20).default([]).describe("what else could have been done"),
});

const strategySchema = z.object({
  steps: z
    .array(stepSchema)
    .min(1, { message: "must have at least one step" })
    .max(STEP_LIMIT, { message: `must not have more than ${STEP_LIMIT} steps` }),
});

export type StrategyStep = z.output<typeof stepSchema>;

const TOOL: ModelTool = {
  name: "record_strategy",
  description: "Records how the goal is reached: the steps, in the order in which they are best read",
  parameters: z.toJSONSchema(strategySchema, { io: "output" }) as unknown as JsonObject,
};

/** A first answer and one that mends it. */
const ANSWERS = 2;

export interface Strategy {
  readonly steps: readonly StrategyStep[];
  /** The answer that holds. */
  readonly decision: DecisionId;
}

export async function strategize(strategist: Strategist, hands: ActorHands): Promise<Strategy> {
  const { goal, model, settings, system, decision: parent } = strategist;
  const messages: ModelMessage[] = [{ role: "user", content: `Decide how this is done: ${goal}` }];
  let unfit = "";
  for (let turn = 1; turn <= ANSWERS * (strategist.gaveUp + 1); turn += 1) {
    const call = { model, system, messages: [...messages], tools: [TOOL], settings };
    const question = turn === 1 ? "How is it done?" : "How is it done, without what was wrong?";
    const about = { type: "strategy_choice", question, parent } as const;
    const { answer, decision } = await hands.ask(String(turn), call, about);
    const { steps, issues } = readStrategy(answer, strategist.resources);
    if (issues.length === 0) return { steps, decision };
    const problems = listIssues(issues.slice(0, 20));
    unfit = `${problems}. It answered: ${shown(answerText(answer), 2_000)}`;
    messages.push(...repair(answer, problems));
  }
  throw new StuckError(`${nameOf(model)} gave no strategy that can be carried out: ${unfit}`, {
    kept: "What it answered is recorded, and nothing was changed.",
    detail: { model: nameOf(model) },
  });
}

function answerText({ text, toolCalls }: Told): string {
  const calls = toolCalls.map(({ tool, raw }) => `${tool} ${raw}`);
  return [text.trim(), ...calls].filter((part) => part !== "").join("\n");
}

/** The model is told exactly what is wrong, where it expects to be told. */
function repair(answer: Told, problems: string): ModelMessage[] {
  const wish = "Call record_strategy once, with all of it mended.";
  const said: ModelMessage[] = answer.text === "" && answer.toolCalls.length === 0 ? [] : [answerMessage(answer)];
  if (answer.toolCalls.length === 0) return [...said, { role: "user", content: `${problems}. ${wish}` }];
  const results = answer.toolCalls.map(({ id, tool }): ModelMessage => {
    return { role: "tool", callId: id, tool, output: `${problems}. ${wish}`, failed: true };
  });
  return [...said, ...results];
}

function readStrategy(
  { toolCalls }: Told,
  resources: readonly string[],
): { readonly steps: readonly StrategyStep[]; readonly issues: readonly ValidationIssue[] } {
  const refused = (message: string): ReturnType<typeof readStrategy> => ({
    steps: [],
    issues: [{ path: "", message }],
  });
  const [call, another] = toolCalls;
  if (call === undefined) return refused("You did not call record_strategy");
  if (another !== undefined) return refused("Call record_strategy once and nothing else");
  if (call.tool !== TOOL.name) return refused(`There is no tool ${shown(call.tool)} here, only record_strategy`);
  if (call.params === undefined) return refused("The parameters are no JSON object");
  const parsed = strategySchema.safeParse(call.params);
  if (!parsed.success) {
    return { steps: [], issues: parsed.error.issues.map(({ path, message }) => ({ path: path.join("."), message })) };
  }
  const { steps } = parsed.data;
  return { steps, issues: graphIssues(steps, resources) };
}

function graphIssues(steps: readonly StrategyStep[], resources: readonly string[]): ValidationIssue[] {
  const issues: ValidationIssue[] = [];
  const ids = steps.map(({ id }) => id);
  const known = new Set(ids);
  for (const [index, { id, needs, resources: used }] of steps.entries()) {
    const at = `steps.${index}`;
    if (ids.indexOf(id) !== index) issues.push({ path: `${at}.id`, message: `"${id}" is the id of two steps` });
    for (const need of needs) {
      if (need === id) issues.push({ path: `${at}.needs`, message: `the step "${id}" cannot need itself` });
      else if (!known.has(need)) issues.push({ path: `${at}.needs`, message: unknown("step", need, ids) });
    }
    for (const name of used) {
      if (!resources.includes(name))
        issues.push({ path: `${at}.resources`, message: unknown("resource", name, resources) });
    }
  }
  // Around which steps there is no way can only be said of a graph whose needs are all there.
  if (issues.length > 0) return issues;
  return firstCycles(steps).map((cycle) => ({
    path: "steps",
    message: `the steps wait for each other: ${cycle.join(" → ")}`,
  }));
}

function unknown(kind: string, name: string, names: readonly string[]): string {
  const near = nearest(name, names);
  return `there is no ${kind} ${shown(name)}${near === undefined ? "" : `; did you mean "${near}"?`}`;
}
