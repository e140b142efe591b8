/**
 * Carries out a step by an outside agent. A step is one turn of the agent, or more: after a question, for the user's
 * further words, and where recorded answers cannot be given again. Each turn begins in a new process, with the files
 * as they were at its beginning, and with the recorded answers; then it goes on live.
 */
import { isQuestion } from "../../actors/loop/ask-user.ts";
import type { AgentPermission, OutsideAgent, TurnEnd } from "../../actors/outside/agent-port.ts";
import type { ModelTool } from "../../actors/models/model.ts";
import { netChanges } from "../../changes/net-changes.ts";
import { planChanges } from "../../changes/plan-changes.ts";
import { placedRecords } from "../../changes/step-records.ts";
import type { WorkStep } from "../../changes/decided-steps.ts";
import type { AcpActorDefinition } from "../../domain/actor/acp-actor.ts";
import { AgentsError, StuckError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { Tell } from "../../domain/run-event.ts";
import { storable } from "../../domain/text/text.ts";
import type { StepPlace } from "../../execution/steps/step-runner.ts";
import type { HostedFiles } from "../../execution/workspace/workspace.ts";
import type { BudgetWarning } from "../../ledger/budgets.ts";
import type { Lease } from "../../ledger/leases.ts";
import type { RoundEffects } from "./round-effects.ts";
import { AgentGuards } from "./agent-guards.ts";
import { AgentPlace } from "./agent-place.ts";
import { AgentRounds } from "./agent-rounds.ts";
import { inAgentSlot } from "./agent-slots.ts";
import { runTurn } from "./agent-turn.ts";
import { AnswerBilling } from "./answer-billing.ts";
import { OfferedTools } from "./offered-tools.ts";
import type { OutsideParts } from "./outside-parts.ts";
import { RecordedAnswers } from "./recorded-answers.ts";
import { DivergedError, RoundRecorder } from "./round-recorder.ts";
import { readRounds, type StepRounds, type TurnEndOutput, type TurnOutput } from "./round-records.ts";

export interface OutsideStep {
  readonly lease: Lease<"execute">;
  readonly actor: AcpActorDefinition;
  readonly step: WorkStep;
  readonly place: StepPlace;
  readonly effects: RoundEffects;
  /** How often the step gave up before: each time it gets its limits once more. */
  readonly gaveUp: number;
  readonly outside: OutsideParts;
  /** Tools of ours that the agent may use. */
  readonly offered: readonly ModelTool[];
  /** The prompt of a turn; `since` tells what happened after the turns before it. */
  readonly prompt: (since: readonly string[]) => Promise<{ readonly text: string; readonly heard: number }>;
  readonly tell: Tell;
}

/** An agent whose files differ each time is not put in place for ever. */
const MOST_PLACED = 3;

/** Returns the step's summary. */
export async function workOutside(work: OutsideStep): Promise<string> {
  const place = new AgentPlace(work.place.environment.workspaces);
  const by = `${work.step.id}/acp`;
  return place.hosting(by, (files) =>
    inAgentSlot(work.outside.atOnce, () => new OutsideWorker(work, place, files).run()),
  );
}

class OutsideWorker {
  readonly #work: OutsideStep;
  readonly #place: AgentPlace;
  readonly #files: readonly HostedFiles[];
  readonly #agent: string;
  readonly #offered: OfferedTools;

  constructor(work: OutsideStep, place: AgentPlace, files: readonly HostedFiles[]) {
    this.#work = work;
    this.#place = place;
    this.#files = files;
    this.#offered = new OfferedTools(work.offered, work.effects);
    const { program, name } = work.actor;
    this.#agent = program.agent ?? name.slice(name.lastIndexOf("/") + 1);
  }

  async run(): Promise<string> {
    const { effects, tell, step } = this.#work;
    let touched = false;
    for (let placed = 0; ;) {
      const rounds = await this.#recorded();
      const turn = rounds.turns.at(-1) ?? (await this.#newTurn(rounds, []));
      effects.beginsWith(turn.heard);
      const ended = rounds.ends.find(({ ended: number }) => number === turn.turn);
      if (ended !== undefined) {
        const since = await this.#since(rounds, ended);
        if (since === undefined) return ended.text;
        await this.#newTurn(rounds, since);
        continue;
      }
      await this.#restore(rounds, turn, touched);
      touched = true;
      try {
        await this.#turn(rounds, turn);
      } catch (error) {
        if (!(error instanceof DivergedError)) throw error;
        placed += 1;
        if (placed > MOST_PLACED) throw unsteadyError(step.id, error);
        const text = `The recorded answers cannot be given to the agent again: ${error.message}. It continues from the recorded files.`;
        tell({ type: "notice", level: "info", text });
        await this.#newTurn(rounds, handover(rounds), error.message);
      }
    }
  }

  async #recorded(): Promise<StepRounds> {
    const { lease, step } = this.#work;
    const { planId, plan, store } = lease;
    return readRounds(await store.read((reader) => placedRecords(reader, planId, plan.attempt)), step.id);
  }

  async #newTurn(rounds: StepRounds, since: readonly string[], why = ""): Promise<TurnOutput> {
    const turn = rounds.turns.length + 1;
    return this.#work.effects.once(`acp-turn-${turn}`, async (): Promise<TurnOutput> => {
      const { text: prompt, heard } = await this.#work.prompt(since);
      return { turn, prompt, from: rounds.answers.at(-1)?.round ?? 0, heard, why };
    });
  }

  /** The words with which another turn begins; undefined when the step is done. */
  async #since(rounds: StepRounds, { ended, text }: TurnEndOutput): Promise<string[] | undefined> {
    const { effects } = this.#work;
    const key = `acp-end-${ended}`;
    const wrote = await this.#hasChanges(rounds);
    const asked = isQuestion(text) && !wrote ? await effects.askUser(key, text, []) : undefined;
    const heard = await effects.hear(key);
    const answered = asked === undefined ? [] : [`You asked: ${text}`, `The user answers: ${asked}`];
    if (asked === undefined && heard.length === 0) return undefined;
    // The process that said it has ended, and the next one knows only what it is told.
    return [...(asked === undefined ? [`You ended your turn with: ${text}`] : answered), ...heard];
  }

  async #hasChanges(rounds: StepRounds): Promise<boolean> {
    const { lease } = this.#work;
    const changes = await planChanges(lease.store, lease.planId, lease.plan.attempt);
    return changes.some(({ step }) => rounds.roundOf.has(step));
  }

  /** The files as they were when the turn began: base, the changes of other steps, and those of rounds before it. */
  async #restore(rounds: StepRounds, { from }: TurnOutput, touched: boolean): Promise<void> {
    const { lease } = this.#work;
    const changes = await planChanges(lease.store, lease.planId, lease.plan.attempt);
    const before = changes.filter(({ step }) => (rounds.roundOf.get(step) ?? 0) <= from);
    if (!touched && before.length === changes.length) return;
    for (const files of this.#files) {
      const { alias } = files.workspace.sandbox;
      await files.restore(netChanges(before.filter(({ resource }) => resource === alias)));
    }
  }

  async #turn(recorded: StepRounds, turn: TurnOutput): Promise<void> {
    const { lease, actor, effects, outside, gaveUp, tell, step } = this.#work;
    const stopped = new AbortController();
    const signal = AbortSignal.any([effects.signal, stopped.signal]);
    let agent: OutsideAgent | undefined;
    const judge = this.#guards(recorded);
    const asks = await judge.active();
    const answers = recorded.answers.filter(({ round }) => round > turn.from);
    const again = new RecordedAnswers(answers, recorded.asides);
    const rounds = new AgentRounds({
      lease,
      step: step.id,
      decision: step.decision,
      effects,
      billing: await this.#billing(),
      recorder: this.#recorder(recorded, turn, judge),
      recorded: again,
      order: carriedOut(recorded, turn.from),
      numbers: {
        from: turn.from,
        rounds: recorded.answers.at(-1)?.round ?? 0,
        asides: recorded.asides.length,
      },
      mostRounds: actor.limits.rounds * (gaveUp + 1),
      guard: { active: () => judge.active(), judge: (round) => judge.judgeAnswer(round, agent?.asks === true) },
      subAgents: actor.subAgents,
      stop: () => {
        stopped.abort();
        this.#place.kill();
      },
      tell,
    });
    const told = await runTurn({
      actor,
      plan: lease.plan,
      step: step.id,
      prompt: turn.prompt,
      place: this.#place,
      outside,
      asks,
      rounds,
      offered: this.#offered,
      // Where the agent does not ask, all calls of its answers were judged before it saw them.
      permission: (request) => (agent?.asks === true ? permitted(judge, rounds, request) : Promise.resolve("allow")),
      minutes: actor.limits.minutes * (gaveUp + 1),
      signal,
      tell,
      opened: (one) => (agent = one),
    }).catch((error: unknown) => {
      throw rounds.failure ?? error;
    });
    effects.signal.throwIfAborted();
    if (stopped.signal.aborted) throw rounds.failure ?? new Error("the turn was ended without a reason");
    const end = believedEnd(told, rounds.unansweredFor);
    // One that died in the middle of a round has done a part of it: the round is carried out again, and not recorded.
    if (end.reason !== "failed") await this.#settle(rounds, again);
    if (rounds.failure !== undefined) throw rounds.failure;
    await this.#recordEnd(turn, end, rounds.lastText);
  }

  /** The end of a turn that the agent ended itself. */
  async #settle(rounds: AgentRounds, again: RecordedAnswers): Promise<void> {
    if (again.isReplay && rounds.failure === undefined)
      throw new DivergedError("it ended its turn earlier than before");
    await rounds.finish();
  }

  async #billing(): Promise<AnswerBilling> {
    const { outside, lease, tell } = this.#work;
    const { costOf } = outside;
    const warn = (warning: BudgetWarning): void => tell({ type: "budget_warning", ...warning });
    return new AnswerBilling({ budget: await outside.budget(lease), costOf, warn });
  }

  #guards(recorded: StepRounds): AgentGuards {
    const { place, step, lease } = this.#work;
    const { context } = place.environment;
    const isRecorded = (round: number): { readonly rejected: readonly string[] } | undefined =>
      recorded.looks.find((look) => look.round === round);
    return new AgentGuards({ lease, context, step: step.id, agent: this.#agent, isRecorded, offered: this.#offered });
  }

  #recorder({ looks }: StepRounds, { from }: TurnOutput, guards: AgentGuards): RoundRecorder {
    const { lease, step, effects } = this.#work;
    const place = this.#place;
    return new RoundRecorder({
      lease,
      step: step.id,
      agent: this.#agent,
      effects,
      files: this.#files,
      pause: () => place.pause(),
      running: () => place.running(),
      looks,
      from,
      cameHere: (round) => this.#offered.cameHere(round),
      judge: (round, changed) => guards.judgeUnasked(round, changed),
    });
  }

  async #recordEnd({ turn }: TurnOutput, end: TurnEnd, last: string): Promise<void> {
    const { effects, step, lease } = this.#work;
    const text = storable(end.text.trim() === "" ? last.trim() : end.text.trim());
    if (end.reason !== "done") throw unfinishedError(end, { step: step.id, plan: lease.planId, agent: this.#agent });
    await effects.once(`acp-end-${turn}`, async () => ({ ended: turn, reason: end.reason, text: text || "Done." }));
  }
}

async function permitted(
  guards: AgentGuards,
  rounds: AgentRounds,
  request: AgentPermission,
): Promise<"allow" | "reject" | "cancel"> {
  try {
    return await guards.permit(rounds.present, request);
  } catch (error) {
    rounds.fail(error instanceof Error ? error : new Error(String(error)));
    return "cancel";
  }
}

/** Rounds with calls after this one: those that were carried out, in their order, and those that were begun. */
function carriedOut({ answers, looks }: StepRounds, from: number): number[] {
  const calling = new Set(answers.flatMap(({ round, calls }) => (calls.length > 0 && round > from ? [round] : [])));
  const seen = looks.map(({ round }) => round).filter((round) => calling.has(round));
  return [...new Set([...seen, ...calling])];
}

/** Some agents say that all is well when their model could not be asked. */
function believedEnd(told: TurnEnd, unanswered: string | undefined): TurnEnd {
  if (told.reason !== "done" || unanswered === undefined) return told;
  return { reason: "failed", text: told.text, error: `its last question was not answered: ${unanswered}` };
}

/** For an agent that begins in the middle of a step. */
function handover({ answers }: StepRounds): string[] {
  const last = answers.at(-1);
  const calls = (last?.calls ?? []).map(({ tool, params }) => `${tool} ${JSON.stringify(params).slice(0, 500)}`);
  const said = [last?.text.trim() ?? "", ...calls].filter((one) => one !== "");
  return [
    "Another process of you began this step and was ended. Its changes so far are in the files, and shown above.",
    ...(said.length === 0
      ? []
      : [`The last thing it said or wanted to do, which may not be done:\n${said.join("\n")}`]),
  ];
}

function unfinishedError(
  end: TurnEnd,
  { step, plan, agent }: { readonly step: string; readonly plan: string; readonly agent: string },
): AgentsError {
  const extras = {
    kept: "Everything it did until then is recorded; the next run continues from there without asking again.",
    next: [nextStep("plan.execute", { plan })],
    detail: { step, agent, reason: end.reason },
  };
  const said = end.text.trim() === "" ? "" : ` It said: ${storable(end.text.trim(), 500)}`;
  if (end.reason === "limit")
    return new StuckError(`The agent ${agent} came to a limit of its own in the step "${step}".${said}`, extras);
  if (end.reason === "refused")
    return new AgentsError("model_refused", `The agent ${agent} refuses the step "${step}".${said}`, extras);
  const why = "error" in end ? storable(end.error, 2_000) : "it ended its turn without finishing";
  return new AgentsError("agent_failed", `The agent ${agent} failed in the step "${step}": ${why}`, extras);
}

function unsteadyError(step: string, cause: Error): StuckError {
  return new StuckError(`The agent does something else each time in the step "${step}": ${cause.message}.`, {
    kept: "Everything that is recorded stays.",
    detail: { step },
  });
}
