/**
 * A question about the code that a model hands to a conversation of its own, so that what is read on the way does not
 * fill the first one: only tools that read, an answer in text. Its questions and calls are durable steps below the key
 * of the call; run again, the same way is taken without asking twice. It cannot hand anything on itself.
 */
import * as z from "zod";
import type { DecisionType } from "../../domain/plan/decision.ts";
import { StuckError } from "../../domain/errors/errors.ts";
import type { DecisionId } from "../../domain/names/ids.ts";
import type { ModelTool, ModelToolCall } from "../models/model.ts";
import type { AgentEffects } from "./actor-effects.ts";
import { converse, type Course, type Explored, type Talk } from "./agent-loop.ts";
import { EXPLORE } from "./control-tools.ts";
import { parametersOf } from "./strategy-form.ts";

const schema = z.object({
  question: z.string().trim().min(1).max(4_000).describe("one question about the code, complete in itself"),
  where: z.string().trim().max(1_000).optional().describe("where to begin, such as a directory"),
});

export const EXPLORE_TOOL: ModelTool = {
  name: EXPLORE,
  description:
    "Hands a question about the code to a helper that reads and searches with a context of its own, and answers in text. For broad questions; several in one answer run side by side",
  parameters: parametersOf(schema),
};

const ROLE = `You answer one question about the user's code for a colleague who does not see what you read. Search and read with the tools until you are sure; nothing can be changed. Make several independent calls in one answer. Then answer without a call: facts first, with paths, line numbers and names as they are in the code, and the few lines of code that matter word for word. Say what you did not find.`;

/** Calls of the model for one question. */
const CALLS = 30;
const SAME_FAILURES = 3;
/** So many questions of one answer are worked on at a time. */
const AT_ONCE = 4;

/** The conversation that hands its questions on. */
interface Explores {
  readonly talk: Talk;
  /** Names of the tools that only read. */
  readonly readable: ReadonlySet<string>;
  /** As which decision their answers are recorded. */
  readonly type: DecisionType;
  readonly effects: AgentEffects;
}

/** Answers all questions of one answer. */
export function explorer(explores: Explores): NonNullable<Course<unknown>["explore"]> {
  return (calls, at) => explored(calls, at, explores);
}

async function explored(
  calls: readonly ModelToolCall[],
  at: { readonly key: string; readonly decision: DecisionId },
  parts: Explores,
): Promise<ReadonlyMap<number, Explored>> {
  const found = new Map<number, Explored>();
  const waiting = [...calls.entries()].filter(([, { tool }]) => tool === EXPLORE);
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, call] = next;
      found.set(index, await one(call, { ...at, key: `${at.key}.${index + 1}` }, parts));
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(AT_ONCE, waiting.length) }, worker));
  const failed = ended.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return found;
}

async function one(
  call: ModelToolCall,
  at: { readonly key: string; readonly decision: DecisionId },
  parts: Explores,
): Promise<Explored> {
  const parsed = schema.safeParse(call.params);
  if (!parsed.success) {
    const told = `The question does not fit: ${parsed.error.issues[0]?.message}. It takes: question, where?.`;
    return { reply: { told, failed: true }, calls: 0 };
  }
  const { question, where } = parsed.data;
  return parts.effects.aside(at.key, { tool: EXPLORE, target: question }, async (effects) => {
    let calls = 0;
    const course = courseOf(where === undefined ? question : `${question}\n\nBegin at: ${where}`, at.decision, parts);
    try {
      const told = await converse({ ...course, asked: () => (calls += 1) }, effects);
      return { reply: { told }, calls };
    } catch (error) {
      if (!(error instanceof StuckError)) throw error;
      return { reply: { told: `It was not answered. ${error.message}`, failed: true }, calls };
    }
  });
}

function courseOf(question: string, parent: DecisionId, { talk, readable, type }: Explores): Course<string> {
  return {
    talk: {
      ...talk,
      system: ROLE,
      tools: talk.tools.filter(({ name }) => readable.has(name)),
      memory: {},
      responseSchema: undefined,
    },
    messages: [{ role: "user", content: question }],
    limit: CALLS,
    name: "The question",
    parent,
    sameFailures: SAME_FAILURES,
    typeOf: () => type,
    handoverType: type,
    questionAt: (turn) => (turn === 1 ? question : "What is next?"),
    refused: () => undefined,
    control: async ({ tool }) => ({ told: `${tool} cannot be used here.`, failed: true }),
    said: async ({ text }) =>
      text.trim() === "" ? { told: "Your answer was empty. Answer the question." } : { end: text.trim() },
  };
}
