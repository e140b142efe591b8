import type {
  About,
  AgentEffects,
  Asked,
  ChecklistItem,
  EffectCall,
  Revision,
  Told,
} from "../actors/loop/actor-effects.ts";
import type { Instructions, ToolOutcome } from "../domain/plan/tool-outcome.ts";
import type { PricedModels } from "../actors/models/budgeted-models.ts";
import { ModelError } from "../actors/models/model-error.ts";
import type { ModelAnswer, ShownPrompt } from "../actors/models/model.ts";
import { monotonicIds, type DecisionId, type IdGenerator, type SessionId } from "../domain/names/ids.ts";
import type { JsonObject, JsonValue } from "../domain/values/json.ts";
import { storable } from "../domain/text/text.ts";
import type { Order } from "../changes/step-records.ts";
import type { StepPlace } from "../execution/steps/step-runner.ts";
import type { Settlement } from "../ledger/budgets.ts";
import { assertHeld, type Lease } from "../ledger/leases.ts";
import { insertModelCall, type ModelCallFacts } from "../ledger/model-calls.ts";
import { stepKey } from "../ledger/records.ts";
import { isRecorded, recordedStep, runStep } from "../ledger/steps.ts";
import { readContents, stageContent, type StagedContent } from "../store/contents/contents.ts";
import type { Tell } from "../domain/run-event.ts";
import { answerOf, ASKED_USER, spokenTo } from "../plans/plan-questions.ts";
import { insertAnswer } from "./answers/answer-record.ts";
import { aboutCall } from "./tool-news.ts";
import { GoneCommands, goneNote } from "./gone-commands.ts";
import { instructionsForCall } from "./project-instructions.ts";
import { snapshotBytes } from "./prompt-snapshot.ts";
import { recordName } from "./answers/record-name.ts";
import { readAnswer, storedAnswer, type StoredAnswer } from "./answers/stored-answer.ts";
import { callFacts, usageFacts } from "./answers/call-facts.ts";
import { asideKey, AsideEffects, isAside } from "./aside-effects.ts";
import { refusalOf, reviseSteps } from "./strategy-revision.ts";

/** Where and for what an actor acts. */
export interface EffectsParts {
  readonly lease: Lease;
  /** Of the plan's decided steps; "strategy" for what is done before there are any. */
  readonly step: string;
  /** Where the step is in the program. */
  readonly order: Order;
  /** How many records the step has already: what comes now comes after them. */
  readonly recorded: number;
  readonly models: PricedModels;
  /** The plans of a session share their beginnings: providers look for what they keep by this. */
  readonly session?: SessionId | undefined;
  /** Undefined while a strategy is made: nothing may be changed then. */
  readonly place: StepPlace | undefined;
  readonly signal: AbortSignal;
  readonly tell: Tell;
  /** How many messages of people the conversation has already. */
  readonly heard: number;
  /** In whose name questions are asked. */
  readonly user: string;
}

/**
 * The effects of one step. A question to a model is one durable step: its answer, exactly what the model was shown, the
 * decision it stands for and what it cost are recorded in one transaction, or none of them is. Records carry their
 * position in the program, in the order in which the step made them.
 */
export class StepEffects implements AgentEffects {
  readonly signal: AbortSignal;
  readonly #parts: EffectsParts;
  readonly #ids: IdGenerator = monotonicIds();
  readonly #gone = new GoneCommands();
  #made: number;
  #heard: number;
  /** Something was asked that is not recorded from before. */
  #live = false;
  /** A list that was not told yet. */
  #list: readonly ChecklistItem[] | undefined;

  constructor(parts: EffectsParts) {
    this.#parts = parts;
    this.#made = parts.recorded;
    this.#heard = parts.heard;
    this.signal = parts.signal;
  }

  async ask(key: string, call: Asked, about: About): Promise<{ readonly answer: Told; readonly decision: DecisionId }> {
    const { lease, step } = this.#parts;
    const asking = stepKey("answer", recordName(step, key));
    let asked: AnsweredCall | undefined;
    let settlement: Settlement | undefined;
    const record = await runStep(
      lease,
      asking,
      async () => {
        asked = await this.#asked(key, asking.key, call, (one) => (settlement = one));
        return plain({ order: this.next(), answer: storedAnswer(asked.told), decision: asked.decision });
      },
      async (tx, { answer }) => {
        if (asked === undefined) return;
        const told = readAnswer(answer as unknown as StoredAnswer);
        const kept = { lease, ids: this.#ids, stepKey: asking.key, about, settlement };
        await insertAnswer(tx, { ...asked, ...kept, told });
      },
    ).catch(async (error: unknown) => {
      // The answer is lost, but not what it cost.
      await settlement?.alone();
      throw error;
    });
    settlement?.committed();
    const { answer, decision } = record as unknown as { readonly answer: StoredAnswer; readonly decision: DecisionId };
    return { answer: readAnswer(answer), decision };
  }

  async callTool(key: string, call: EffectCall): Promise<ToolOutcome> {
    const { place, step, tell } = this.#parts;
    if (place === undefined) return { ok: false, error: "No tool can be called here." };
    const started = performance.now();
    const about = aboutCall(step, key, call);
    tell({ type: "tool_started", ...about });
    // The position counts when the call is recorded; of two at once, the one that ends first comes first.
    const id = recordName(step, key);
    const instructions = (): Promise<readonly Instructions[]> => this.#instructionsFor(call);
    const outcome = await place.call({ ...call, key: id, order: () => this.next(), by: id, instructions });
    const error = outcome.ok ? {} : { error: outcome.error };
    tell({ type: "tool_ended", ...about, durationMs: performance.now() - started, ...error });
    if (outcome.ok) this.#gone.note(outcome.output, place.environment.workspaces);
    return outcome;
  }

  /** Ends the commands that the step left in the background. */
  async endCommands(): Promise<void> {
    const { place, step } = this.#parts;
    await place?.endCommands({ step, order: () => this.next() });
  }

  /** The project's instructions for the places that the call is about, unless the conversation has them. */
  async #instructionsFor({ tool, params, knows }: EffectCall): Promise<readonly Instructions[]> {
    const workspaces = this.#parts.place?.environment.workspaces;
    if (knows === undefined || workspaces === undefined) return [];
    const found = await instructionsForCall({ tool, params }, workspaces);
    return found.filter((one) => !knows(one));
  }

  async once<T extends JsonValue>(key: string, fn: () => Promise<T>): Promise<T> {
    return this.recorded("once", key, fn);
  }

  /** How many messages of people the conversation has by now. */
  get heard(): number {
    return this.#heard;
  }

  /** The conversation begins with so many messages of people. */
  beginsWith(heard: number): void {
    this.#heard = heard;
  }

  async hear(key: string): Promise<readonly string[]> {
    const { lease, step } = this.#parts;
    const record = stepKey("once", recordName(step, `heard-${key}`));
    // An answer that is recorded was given without what has been said since.
    if (await isRecorded(lease, stepKey("answer", recordName(step, key)))) {
      const known = await recordedStep<HeardRecord>(lease, record);
      return known === undefined ? [] : this.#hears(known.result.output);
    }
    const said = await lease.store.read((reader) => spokenTo(reader, lease.plan));
    const gone = this.#gone.ids();
    if (said.length <= this.#heard && gone.length === 0 && !(await isRecorded(lease, record))) return [];
    return this.#hears(
      await this.once(`heard-${key}`, async () => ({ count: said.length, texts: said.slice(this.#heard), gone })),
    );
  }

  #hears({ count, texts, gone = [] }: Heard): readonly string[] {
    this.#heard = count;
    this.#gone.told(gone);
    return [...gone.map(goneNote), ...texts.map((text) => `The user says: ${text}`)];
  }

  async isRecorded(key: string): Promise<boolean> {
    const { lease, step } = this.#parts;
    const name = recordName(step, key);
    return (await isRecorded(lease, stepKey("answer", name))) || (await isRecorded(lease, stepKey("once", name)));
  }

  async askUser(key: string, question: string, options: readonly string[]): Promise<string> {
    const { lease, step, user } = this.#parts;
    return answerOf(lease, { key: `${ASKED_USER}${recordName(step, key)}`, question, options }, user);
  }

  async revise(
    key: string,
    revision: Revision,
  ): Promise<{ readonly steps: readonly string[] } | { readonly refused: string }> {
    const { lease, step, user } = this.#parts;
    if (lease.phase !== "execute") return { refused: "The strategy is not recorded yet." };
    const held = lease as Lease<"execute">;
    const refused = await refusalOf(held, { key: recordName(step, key), ...revision }, user);
    if (refused !== undefined) return { refused };
    const name = recordName(step, `revised-${key}`);
    const record = await runStep(
      lease,
      stepKey("once", name),
      async () => plain({ order: this.next(), output: revision.steps.map(({ id }) => id) }),
      (tx) => reviseSteps(tx, held, { step: step.split("/", 1)[0] ?? step, revision }),
    );
    return { steps: (record as { readonly output: readonly string[] }).output };
  }

  async aside<T>(
    key: string,
    { tool, target }: { readonly tool: string; readonly target: string },
    run: (effects: AgentEffects) => Promise<T>,
  ): Promise<T> {
    const { step, tell } = this.#parts;
    const started = performance.now();
    const about = { step, key, tool, target };
    tell({ type: "tool_started", ...about });
    const ended = (error?: string): void =>
      tell({ type: "tool_ended", ...about, durationMs: performance.now() - started, ...(error ? { error } : {}) });
    try {
      const result = await run(new AsideEffects(this, asideKey(key)));
      ended();
      return result;
    } catch (error) {
      ended(error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  /** Of the lists of an earlier run only the last is told, when the work goes on. */
  showChecklist(items: readonly ChecklistItem[]): void {
    this.#list = items;
    if (this.#live) this.#tellList();
  }

  #tellList(): void {
    const { step, tell } = this.#parts;
    if (this.#list !== undefined) tell({ type: "checklist", step, items: this.#list });
    this.#list = undefined;
  }

  /** The same under a kind of its own, for what others look for among the records. */
  async recorded<T extends JsonValue>(
    kind: "once" | "context" | "gave_up",
    key: string,
    fn: () => Promise<T>,
  ): Promise<T> {
    const { lease, step } = this.#parts;
    const record = await runStep(lease, stepKey(kind, recordName(step, key)), async () => {
      const output = await fn();
      return plain({ order: this.next(), output });
    });
    return (record as { readonly output: JsonValue }).output as T;
  }

  /** The position of the next record of the step. */
  next(): Order {
    this.#made += 1;
    return [...this.#parts.order, this.#made];
  }

  async #asked(
    key: string,
    recordKey: string,
    call: Asked,
    settleLater: (settlement: Settlement) => void,
  ): Promise<AnsweredCall> {
    const { lease, step, models, signal, tell } = this.#parts;
    let shown: ShownPrompt = call;
    this.#live = true;
    this.#tellList();
    tell({ type: "ask_started", step, key, model: call.model });
    let answer: ModelAnswer;
    try {
      answer = await models.call({
        ...call,
        signal,
        cacheKey: this.#parts.session ?? lease.plan.id,
        imageBytes: (sha256) => this.#content(sha256),
        settleLater,
        onWait: (wait) => tell({ type: "ask_waits", step, key, ...wait }),
        onShown: (safe) => (shown = safe),
        // The text of a step is that of its own conversation.
        onText: (text) => (isAside(key) ? undefined : tell({ type: "text", step, text })),
        onThought: (text) => (isAside(key) ? undefined : tell({ type: "thought", step, text })),
        onRestart: () => (isAside(key) ? undefined : tell({ type: "text_void", step })),
      });
    } catch (error) {
      // A process that lost the lease hears of that, and not that a call was stopped because of it.
      lease.signal.throwIfAborted();
      tell({ type: "ask_failed", step, key, error: error instanceof Error ? error.message : String(error) });
      if (error instanceof ModelError) await this.#failed(error, recordKey);
      throw error;
    }
    const cost = models.costOf(answer.model, answer.usage);
    const { inputTokens, cachedInputTokens: cachedTokens = 0, outputTokens } = answer.usage;
    const { durationMs, model } = answer;
    const toolCalls = answer.toolCalls.length;
    const tokens = { inputTokens, cachedTokens, outputTokens };
    tell({ type: "ask_answered", step, key, model, ...tokens, cost, durationMs, toolCalls });
    const { text, toolCalls: calls, parts, finish, usage } = answer;
    return {
      told: { text, toolCalls: calls, ...(parts === undefined ? {} : { parts }), finish, model, usage },
      snapshot: await stageContent(lease.store, snapshotBytes(answer.model, shown)),
      decision: this.#ids() as DecisionId,
      facts: callFacts(answer, models),
    };
  }

  async #content(hash: string): Promise<Uint8Array> {
    for await (const [, bytes] of readContents(this.#parts.lease.store, [hash])) return bytes;
    throw new Error(`the content ${hash}, which a message names, is not stored`);
  }

  /** Tries that came to nothing may have been billed all the same. */
  async #failed(error: ModelError, recordKey: string): Promise<void> {
    const { lease, models } = this.#parts;
    const billed = error.attempts.filter(({ usage }) => usage !== undefined);
    if (billed.length === 0) return;
    await lease.store.transaction(async (tx) => {
      await assertHeld(tx, lease);
      for (const { model, usage, durationMs } of billed) {
        if (usage === undefined) continue;
        const facts = usageFacts(model, usage, models.costOf(model, usage));
        const more = { durationMs, tries: 1, masked: 0, error: storable(error.message, 4_096) };
        await insertModelCall(tx, { ...this.#callRow(recordKey), ...facts, ...more, decision: undefined });
      }
    });
  }

  #callRow(
    recordKey: string,
  ): Pick<Parameters<typeof insertModelCall>[1], "id" | "planId" | "attempt" | "phase" | "stepKey"> {
    const { plan, phase } = this.#parts.lease;
    return { id: this.#ids(), planId: plan.id, attempt: plan.attempt, phase, stepKey: recordKey };
  }
}

interface HeardRecord extends JsonObject {
  readonly output: Heard;
}

type Heard = {
  readonly count: number;
  readonly texts: string[];
  /** Commands that ran in the background of a process that has ended; missing in records of older versions. */
  readonly gone?: string[];
};

interface AnsweredCall {
  readonly told: Told;
  readonly snapshot: StagedContent;
  readonly decision: DecisionId;
  readonly facts: ModelCallFacts;
}

/**
 * The value after a round trip through JSON: a number that JSON does not know, or a missing field, must not come back
 * different from the record.
 */
function plain(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
