/**
 * A model that decides how a plan is carried out: it looks at the resources with the tools that only read, then records
 * its steps by a tool, which every provider has. The same conversation continues with the work where the steps follow
 * one another.
 */
import { listIssues, StuckError } from "../../domain/errors/errors.ts";
import type { DecisionId } from "../../domain/names/ids.ts";
import { shown } from "../../domain/text/text.ts";
import type { ModelMessage, ModelToolCall } from "../models/model.ts";
import type { AgentEffects, Told } from "./actor-effects.ts";
import { converse, modelName, type ToolReply, type Talk } from "./agent-loop.ts";
import { askedUser } from "./ask-user.ts";
import { explorer } from "./explorer.ts";
import { ASK_USER, EXPLORE, RECORD_STRATEGY } from "./control-tools.ts";
import { stepIssues, strategySchema, type StrategyStep } from "./strategy-form.ts";

export interface Strategist {
  readonly talk: Talk;
  /** The conversation of the session so far. */
  readonly before: readonly ModelMessage[];
  /** Everything the model is told about the plan. */
  readonly opening: ModelMessage;
  /** The question it has to decide. */
  readonly wish: string;
  /** Aliases of the plan. */
  readonly resources: readonly string[];
  /** The actors that single steps may be given to. */
  readonly actors?: readonly string[];
  /** Names of the tools that only read. */
  readonly readable: ReadonlySet<string>;
  /** The decision that says what the plan is asked to do. */
  readonly decision: DecisionId;
  /** How often it gave up before; each time the user let it try again. */
  readonly gaveUp: number;
  /**
   * Takes the strategy; false when people have said something since the model was last told what they said: then the
   * model continues.
   */
  readonly accept: (strategy: DecidedStrategy) => Promise<boolean>;
}

export interface DecidedStrategy {
  readonly steps: readonly StrategyStep[];
  /** The answer that holds. */
  readonly decision: DecisionId;
}

/** Calls to look around with, before the model is stopped. */
const LOOKS = 40;
/** A first strategy that does not fit may be mended so often. */
const UNFIT_LIMIT = 2;
const SAME_FAILURE_LIMIT = 3;

export async function strategize(strategist: Strategist, effects: AgentEffects): Promise<void> {
  const rounds = strategist.gaveUp + 1;
  const unfit = new Unfit(UNFIT_LIMIT * rounds, strategist);
  const messages: ModelMessage[] = [
    ...strategist.before,
    strategist.opening,
    { role: "user", content: strategist.wish },
  ];
  await converse<void>(
    {
      talk: strategist.talk,
      messages,
      limit: LOOKS * rounds,
      name: "The strategy",
      parent: strategist.decision,
      sameFailures: SAME_FAILURE_LIMIT * rounds,
      typeOf: ({ toolCalls }) => (toolCalls.some(isLook) ? "resource_selection" : "strategy_choice"),
      handoverType: "strategy_choice",
      explore: explorer({
        talk: strategist.talk,
        readable: strategist.readable,
        type: "resource_selection",
        effects,
      }),
      questionAt: (turn, recovers) =>
        turn === 1
          ? "How is it done?"
          : recovers
            ? "How is it done, without what was wrong?"
            : "What is there to know?",
      refused: (tool) => {
        if (
          tool === EXPLORE ||
          strategist.readable.has(tool) ||
          !strategist.talk.tools.some(({ name }) => name === tool)
        )
          return undefined;
        return `${tool} may change something, and there is no strategy yet. Call record_strategy first.`;
      },
      control: (call, at) => control(call, at, { strategist, effects, unfit }),
      said: async (answer) => ({ told: unfit.told(`You did not call ${RECORD_STRATEGY}`, answer) }),
    },
    effects,
  );
}

function isLook({ tool }: ModelToolCall): boolean {
  return tool !== RECORD_STRATEGY;
}

async function control(
  call: ModelToolCall,
  at: { readonly key: string; readonly decision: DecisionId },
  parts: { readonly strategist: Strategist; readonly effects: AgentEffects; readonly unfit: Unfit },
): Promise<ToolReply<void>> {
  const { strategist, effects, unfit } = parts;
  if (call.tool === ASK_USER) return askedUser(call, at.key, effects);
  if (call.tool !== RECORD_STRATEGY) {
    return { told: `There is no step yet. Call ${RECORD_STRATEGY} first.`, failed: true };
  }
  const { steps, problems } = readStrategy(call, strategist);
  if (problems !== undefined) return { told: unfit.told(problems, call), failed: true };
  if (await strategist.accept({ steps, decision: at.decision })) return { end: undefined };
  return { told: "The user has seen it and said something about it. Take that into account and record it again." };
}

/** A strategy that answers in words has one step, which is to give that answer. */
const ANSWER_STEP = "answer";

function readStrategy(
  { params }: ModelToolCall,
  { resources, actors = [] }: Pick<Strategist, "resources" | "actors">,
): { readonly steps: readonly StrategyStep[]; readonly problems: string | undefined } {
  const unfit = (problems: string): ReturnType<typeof readStrategy> => ({ steps: [], problems });
  if (params === undefined) return unfit("The parameters are not a JSON object");
  const parsed = strategySchema.safeParse(params);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path, message }) => ({ path: path.join("."), message }));
    return unfit(listIssues(issues.slice(0, 20)));
  }
  const { steps, answer } = parsed.data;
  if (steps.length === 0 && answer.trim() === "")
    return unfit("steps: must have at least one step, or an answer to a request that needs no change");
  if (steps.length === 0) return { steps: [answering(answer.trim())], problems: undefined };
  const issues = stepIssues(steps, { resources, actors });
  return issues.length === 0 ? { steps, problems: undefined } : unfit(listIssues(issues.slice(0, 20)));
}

function answering(answer: string): StrategyStep {
  return {
    id: ANSWER_STEP,
    description: "Answer the request in words; nothing has to be changed",
    answer,
    needs: [],
    resources: [],
    complexity: "low",
    risk: 0,
    confidence: null,
    rationale: "",
    alternatives: [],
  };
}

/** Counts answers that cannot be carried out; the model is told exactly what is wrong, until it had enough chances. */
class Unfit {
  readonly #limit: number;
  readonly #strategist: Strategist;
  #seen = 0;

  constructor(limit: number, strategist: Strategist) {
    this.#limit = limit;
    this.#strategist = strategist;
  }

  told(problems: string, answer: ModelToolCall | Told): string {
    this.#seen += 1;
    if (this.#seen < this.#limit) return `${problems}. Call ${RECORD_STRATEGY} once, with all of it mended.`;
    const name = modelName(this.#strategist.talk.model);
    const said = "tool" in answer ? `${answer.tool} ${answer.raw}` : answer.text.trim();
    throw new StuckError(
      `${name} gave no strategy that can be carried out: ${problems}. It answered: ${shown(said, 2_000)}`,
      { kept: "The answers are recorded, and nothing was changed.", detail: { model: name } },
    );
  }
}
