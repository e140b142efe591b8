/**
 * An outside agent's questions, as the gateway hands them over. A question with tools ends the round before it: while
 * it waits here the agent stands still, and the files are compared. Its answer begins the next round; it is recorded,
 * with its decision and its cost, before the agent sees the end of it. Recorded answers are given again instead of
 * asked for. The reason why a turn ends here counts more than what the agent says about it.
 */
import { hash } from "node:crypto";
import { answerContent } from "../../actors/gateway/answer-calls.ts";
import { isStreamed } from "../../actors/gateway/answer-reading.ts";
import type { GatewayAnswer, GatewayPort, GatewayRequest, GatewayVerdict } from "../../actors/gateway/gateway-port.ts";
import {
  callResults,
  conversationOf,
  firstWords,
  isBeginning,
  offersTools,
  questionOf,
} from "../../actors/gateway/request-reading.ts";
import type { Told } from "../../actors/loop/actor-effects.ts";
import { AgentsError, BudgetError, StuckError } from "../../domain/errors/errors.ts";
import { monotonicIds, type DecisionId } from "../../domain/names/ids.ts";
import type { Tell } from "../../domain/run-event.ts";
import { isJsonObject, type JsonObject } from "../../domain/values/json.ts";
import { assertHeld, type Lease } from "../../ledger/leases.ts";
import { insertModelCall } from "../../ledger/model-calls.ts";
import { stepKey } from "../../ledger/records.ts";
import { runStep } from "../../ledger/steps.ts";
import { Lane } from "../../platform/lane.ts";
import { readContents, stageContent } from "../../store/contents/contents.ts";
import { insertAnswer } from "../answers/answer-record.ts";
import { recordName } from "../answers/record-name.ts";
import type { RoundEffects } from "./round-effects.ts";
import { storedAnswer } from "../answers/stored-answer.ts";
import type { AnswerBilling } from "./answer-billing.ts";
import { Conversations } from "./conversations.ts";
import { Floor } from "./floor.ts";
import type { RecordedAnswers } from "./recorded-answers.ts";
import { DivergedError, type Round, type RoundRecorder } from "./round-recorder.ts";
import type { AsideOutput, RecordedAnswer } from "./round-records.ts";

type Answered = Extract<GatewayAnswer, { answered: true }>;

export interface AgentRoundsParts {
  readonly lease: Lease<"execute">;
  readonly step: string;
  /** The decision that the step is to be done. */
  readonly decision: DecisionId;
  readonly effects: RoundEffects;
  readonly billing: AnswerBilling;
  readonly recorder: RoundRecorder;
  readonly recorded: RecordedAnswers;
  /** Recorded rounds with calls, in the order in which the calls were carried out. */
  readonly order: readonly number[];
  /** The last round before the turn, and how many rounds and answers without tools are on record. */
  readonly numbers: { readonly from: number; readonly rounds: number; readonly asides: number };
  readonly mostRounds: number;
  /** Asks guards about calls of an answer before the agent sees any of it, where there are any. */
  readonly guard: { readonly active: () => Promise<boolean>; readonly judge: (round: Round) => Promise<void> };
  /** Whether other conversations may run beside the first. */
  readonly subAgents: boolean;
  /** Ends the agent at once. */
  readonly stop: () => void;
  readonly tell: Tell;
}

interface Questioned {
  readonly verdict: GatewayVerdict;
  /** Before the agent gets an answer that is known already. */
  readonly begin?: () => Promise<void>;
}

export class AgentRounds implements GatewayPort {
  readonly #parts: AgentRoundsParts;
  readonly #lane = new Lane();
  readonly #floor: Floor;
  readonly #ids = monotonicIds();
  /** The last answer of each conversation, by what was asked. */
  readonly #last = new Map<
    string,
    { readonly request: string; readonly answer: RecordedAnswer; readonly round: Round }
  >();
  readonly #talks = new Conversations();
  #unansweredFor: string | undefined;
  #latest: Round;
  #rounds: number;
  #asides: number;
  #failure: Error | undefined;

  constructor(parts: AgentRoundsParts) {
    this.#parts = parts;
    this.#rounds = parts.numbers.rounds;
    this.#asides = parts.numbers.asides;
    this.#floor = new Floor(parts.order);
    this.#latest = newRound({ number: parts.numbers.from, decision: parts.decision });
  }

  /** The reason why the turn could not go on, as far as it is known here. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** The round whose calls the agent carries out now. */
  get present(): Round {
    return this.#floor.holder ?? this.#talks.first ?? this.#latest;
  }

  /** Why the last question has no answer; undefined where it has one. An agent that ends then has not finished. */
  get unansweredFor(): string | undefined {
    return this.#unansweredFor;
  }

  /** The text of the last answer. */
  get lastText(): string {
    return [...this.#last.values()].at(-1)?.answer.text ?? "";
  }

  /** Ends the turn: everything is refused from here on. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#floor.close();
    this.#parts.stop();
  }

  /** After everything of the agent has ended: the changes since the last question belong to the last answer. */
  async finish(): Promise<void> {
    this.#floor.close();
    await this.#lane.run(() => this.#parts.recorder.look(this.present, []));
    this.#parts.recorder.requireRecorded();
  }

  async before(request: GatewayRequest): Promise<GatewayVerdict> {
    if (this.#failure !== undefined) return refused(this.#failure);
    try {
      if (!offersTools(request.shown)) return await this.#aside(request);
      const { verdict, begin } = await this.#lane.run(() => this.#question(request));
      await begin?.();
      return verdict;
    } catch (error) {
      const reason = error instanceof Error ? error : new Error(String(error));
      // An agent that is refused for the budget stops by itself.
      if (reason instanceof BudgetError) this.#failure ??= reason;
      else this.fail(reason);
      return refused(reason);
    }
  }

  async after(request: GatewayRequest, answer: GatewayAnswer): Promise<AgentsError | void> {
    if (!answer.answered) return this.#unanswered(request, answer);
    if (!offersTools(request.shown)) return this.#recordAside(request, answer);
    const round = await this.#lane.run(() => this.#record(request, answer));
    try {
      await this.#begin(round);
    } catch (error) {
      const reason = error instanceof Error ? error : new Error(String(error));
      this.fail(reason);
      return reason instanceof AgentsError ? reason : new AgentsError("internal", reason.message);
    }
  }

  /** The calls of the answer are about to be carried out. */
  async #begin(round: Round): Promise<void> {
    if (round.calls.length === 0) return;
    await this.#parts.guard.judge(round);
    await this.#floor.enter(round);
    this.#talks.begun(round);
  }

  async #question(request: GatewayRequest): Promise<Questioned> {
    const { dialect, shown } = request;
    const { recorded, mostRounds, billing, guard, subAgents } = this.#parts;
    const [asked, conversation] = [digest(shown), conversationOf(dialect, shown)];
    const before = this.#last.get(conversation);
    // An agent that used the answer would ask something else: it was lost on the way.
    if (before?.request === asked) {
      const { round, answer } = before;
      const begin = async (): Promise<void> => (round.calls.length === 0 ? undefined : this.#floor.enter(round));
      return { verdict: await this.#given(answer), begin };
    }
    await this.#look(request, conversation);
    const known = recorded.next(conversation);
    if (known !== undefined) {
      if (known.dialect !== dialect || isStreamed(known.contentType) !== request.streams)
        throw new DivergedError(`the question ${known.round} is asked in another way`);
      const round = newRound({ ...known, number: known.round, conversation });
      this.#latest = round;
      this.#last.set(conversation, { request: asked, answer: known, round });
      return { verdict: await this.#given(known), begin: () => this.#begin(round) };
    }
    if (this.#rounds >= mostRounds) throw tooLongError(this.#parts.step, mostRounds);
    await billing.reserve(request);
    this.#tellAsked(request);
    return { verdict: { pass: true, hold: subAgents || (await guard.active()) ? "all" : "calls" } };
  }

  /**
   * The files are compared where the conversation that has the floor comes to its end: it asks, or begins another one,
   * or is awaited no more. Where no conversation has it, the changes belong to the answer above all that are at work.
   */
  async #look({ dialect, shown }: GatewayRequest, conversation: string): Promise<void> {
    const { recorder } = this.#parts;
    const { holder } = this.#floor;
    const parent = isBeginning(dialect, shown)
      ? this.#talks.opened(conversation, firstWords(dialect, shown))
      : undefined;
    const results = callResults(dialect, shown);
    if (holder === undefined) {
      const round = this.#talks.of(conversation) ?? parent ?? this.#talks.first ?? this.#latest;
      await recorder.look(round, round.conversation === conversation ? results : []);
    } else if (holder.conversation === conversation || holder === parent || this.#talks.isAbove(conversation, holder)) {
      await recorder.look(holder, holder.conversation === conversation ? results : []);
      this.#floor.leave();
    }
    this.#talks.asks(conversation);
  }

  async #record(request: GatewayRequest, answer: Answered): Promise<Round> {
    const { lease, step, effects, billing, recorded, decision: parent } = this.#parts;
    const { dialect, shown, model } = request;
    const { status, contentType, usage } = answer;
    const number = (this.#rounds += 1);
    this.#unansweredFor = undefined;
    const key = stepKey("answer", recordName(step, roundKey(number)));
    const { text, calls } = answerContent(dialect, answer.body, isStreamed(contentType));
    const { settlement, facts, cost } = billing.answered(request, answer);
    const conversation = conversationOf(dialect, shown);
    const decision = this.#ids() as DecisionId;
    const body = await stageContent(lease.store, Buffer.from(answer.body, "utf8"));
    const snapshot = await stageContent(lease.store, Buffer.from(JSON.stringify(shown), "utf8"));
    const wire = {
      round: number,
      dialect,
      status,
      contentType,
      body: body.hash,
      request: digest(shown),
      conversation: recorded.nameOf(conversation),
    };
    const told: Told = {
      text,
      toolCalls: calls.map(({ id, tool, params }) => toolCall(id, tool, params)),
      finish: calls.length > 0 ? "tool_calls" : "stop",
      model,
      usage,
    };
    const about = {
      type: calls.length > 0 ? "tool_invocation" : "implementation_choice",
      question: "What is next?",
      parent,
    } as const;
    const record = { lease, ids: this.#ids, stepKey: key.key, decision, about, told, snapshot, facts, settlement };
    await runStep(
      lease,
      key,
      async () => plain({ order: effects.next(), answer: storedAnswer(told), decision, wire }),
      async (tx) => {
        await body.commit(tx);
        await insertAnswer(tx, record);
      },
    ).catch(async (error: unknown) => {
      // The answer is lost, but not what it cost.
      await settlement.alone();
      throw error;
    });
    settlement.committed();
    this.#tellAnswered(number, request, answer, { cost, calls: calls.length });
    const round = newRound({ number, decision, calls, conversation });
    this.#latest = round;
    this.#last.set(conversation, { request: wire.request, answer: { ...wire, decision, text, calls }, round });
    return round;
  }

  async #aside(request: GatewayRequest): Promise<GatewayVerdict> {
    const known = this.#parts.recorded.aside(questionOf(request.dialect, request.shown));
    if (known !== undefined) return this.#given(known);
    await this.#parts.billing.reserve(request);
    return { pass: true };
  }

  async #recordAside(request: GatewayRequest, answer: Answered): Promise<void> {
    const { lease, step, effects, billing } = this.#parts;
    const { status, contentType } = answer;
    const number = (this.#asides += 1);
    const key = stepKey("once", recordName(step, `acp-aside-${number}`));
    const { settlement, facts } = billing.answered(request, answer);
    const body = await stageContent(lease.store, Buffer.from(answer.body, "utf8"));
    const output: AsideOutput = {
      aside: number,
      request: questionOf(request.dialect, request.shown),
      status,
      contentType,
      body: body.hash,
    };
    await runStep(
      lease,
      key,
      async () => ({ order: [...effects.next()], output }),
      async (tx) => {
        await settlement.commit(tx);
        await body.commit(tx);
        await insertModelCall(tx, { ...this.#callRow(key.key), ...facts });
      },
    ).catch(async (error: unknown) => {
      await settlement.alone();
      throw error;
    });
    settlement.committed();
  }

  async #unanswered(request: GatewayRequest, answer: Extract<GatewayAnswer, { answered: false }>): Promise<void> {
    const { lease, step, billing, tell } = this.#parts;
    const facts = await billing.failed(request, answer);
    tell({ type: "ask_failed", step, key: request.id, error: answer.error });
    if (offersTools(request.shown) && !answer.unwanted) this.#unansweredFor = answer.error;
    if (facts === undefined) return;
    await lease.store.transaction(async (tx) => {
      await assertHeld(tx, lease);
      const key = stepKey("answer", recordName(step, roundKey(this.#rounds + 1))).key;
      await insertModelCall(tx, { ...this.#callRow(key), ...facts });
    });
  }

  async #given({ status, contentType, body }: RecordedAnswer | AsideOutput): Promise<GatewayVerdict> {
    for await (const [, bytes] of readContents(this.#parts.lease.store, [body]))
      return { pass: "given", answer: { status, contentType, body: Buffer.from(bytes).toString("utf8") } };
    throw new Error(`the answer ${body} is not stored`);
  }

  #callRow(
    key: string,
  ): Omit<Parameters<typeof insertModelCall>[1], keyof ReturnType<AnswerBilling["answered"]>["facts"]> {
    const { plan, phase } = this.#parts.lease;
    return { id: this.#ids(), planId: plan.id, attempt: plan.attempt, phase, stepKey: key, decision: undefined };
  }

  #tellAsked({ model }: GatewayRequest): void {
    const { step, tell } = this.#parts;
    tell({ type: "ask_started", step, key: roundKey(this.#rounds + 1), model });
  }

  #tellAnswered(
    number: number,
    { model }: GatewayRequest,
    { usage, durationMs }: Answered,
    { cost, calls }: { readonly cost: number | undefined; readonly calls: number },
  ): void {
    const { step, tell } = this.#parts;
    const { inputTokens, outputTokens, cachedInputTokens: cachedTokens = 0 } = usage;
    const tokens = { inputTokens, cachedTokens, outputTokens };
    tell({ type: "ask_answered", step, key: roundKey(number), model, ...tokens, cost, durationMs, toolCalls: calls });
  }
}

function newRound(given: Pick<Round, "number" | "decision"> & Partial<Pick<Round, "calls" | "conversation">>): Round {
  const { number, decision, calls = [], conversation = "" } = given;
  return { number, decision, calls, conversation, begun: performance.now(), allowed: [], rejected: [], served: [] };
}

function roundKey(round: number): string {
  return `acp-${round}`;
}

function refused(error: Error): GatewayVerdict {
  return { pass: false, reason: error instanceof AgentsError ? error : new AgentsError("internal", error.message) };
}

function digest(value: JsonObject): string {
  return hash("sha256", JSON.stringify(value));
}

function toolCall(id: string, tool: string, params: unknown): Told["toolCalls"][number] {
  const raw = typeof params === "string" ? params : JSON.stringify(params);
  const object = params as JsonObject;
  return { id, tool, params: isJsonObject(object) ? object : undefined, raw };
}

function plain(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

function tooLongError(step: string, rounds: number): StuckError {
  return new StuckError(`The agent asked its model ${rounds} times in the step "${step}", which is its limit.`, {
    kept: "Everything it did so far is recorded.",
    detail: { step, rounds },
  });
}
