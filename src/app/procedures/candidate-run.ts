/**
 * Carries out the candidates of a group side by side, in one process: each under its own lease, in its own sandbox, and
 * with its events tagged. One that fails does not stop the others. All of it is in the store, so a killed run continues
 * where each of them was.
 */
import { AwaitingInputError, AgentsError, PlanError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { PlanId } from "../../domain/names/ids.ts";
import type { CandidateGroup } from "../../domain/plan/candidate.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { isTerminal, statusKey } from "../../domain/plan/transitions.ts";
import type { RunEvent, SingleRunEvent } from "../../domain/run-event.ts";
import { groupSpending } from "../../ledger/budget-report.ts";
import { findCandidateGroup, groupScopeOf } from "../../ledger/candidate-records.ts";
import type { App } from "../base/app.ts";
import type { Ask, Call } from "../base/call.ts";
import { carryOut } from "./carry-out.ts";
import type { ExecuteOutcome, ExecutePlanOptions } from "./execute-plan.ts";

/** How often the store is asked whether another process has chosen. */
const LOOK_MS = 500;

/** One of them, with its number. */
interface Numbered {
  readonly plan: Plan;
  readonly candidate: number;
}

export interface RanCandidates {
  /** As it is at the end. */
  readonly group: CandidateGroup;
  /** Why those that failed did so, by plan; a failure before the first phase is recorded nowhere else. */
  readonly errors: ReadonlyMap<string, string>;
}

/** Until each has ended, waits for a person, or was stopped. */
export async function runCandidates(
  app: App,
  group: CandidateGroup,
  options: ExecutePlanOptions,
  call: Call,
): Promise<RanCandidates> {
  const store = await app.store();
  const all = await Promise.all(
    group.plans.map(async (id, index) => ({ plan: await (await app.plans()).getPlan(id), candidate: index + 1 })),
  );
  const errors = new Map<string, string>();
  const unfinished = all.filter(({ plan }) => isUnfinished(plan));
  if (unfinished.length > 0 && group.chosen === undefined) {
    call.tell(await startedEvent(app, group, all));
    using choice = new ChoiceWatch(app, group.id);
    const shared = new SharedCall({ ...call, signal: AbortSignal.any([call.signal, choice.signal]) });
    const running = unfinished.map((one) => runOne(app, one, options, shared.of(one)));
    // Also after a defect in one of them, the others end before the store is closed.
    const ended = await Promise.allSettled(running);
    for (const one of ended) if (one.status === "rejected") throw one.reason;
    for (const one of ended) if (one.status === "fulfilled" && one.value !== undefined) errors.set(...one.value);
  }
  if (call.signal.aborted) throw interruptedError(group);
  return { group: (await store.read((reader) => findCandidateGroup(reader, group.id))) ?? group, errors };
}

function isUnfinished(plan: Plan): boolean {
  return !isTerminal(plan) && plan.phase !== "apply" && statusKey(plan) !== "execute/complete";
}

async function startedEvent(app: App, group: CandidateGroup, all: readonly Numbered[]): Promise<RunEvent> {
  const store = await app.store();
  const [first] = group.plans;
  const scope = first === undefined ? undefined : await store.read((reader) => groupScopeOf(reader, first));
  const { spent, assumed, cap } = await store.read((reader) =>
    groupSpending(reader, scope ?? { id: group.id, cap: undefined }),
  );
  const candidates = all.map(({ plan, candidate }) => ({
    candidate,
    plan: plan.id,
    actor: plan.actors.execution ?? "",
  }));
  return { type: "candidates_started", group: group.id, candidates, spent: spent + assumed, cap: cap?.amount };
}

/** Its failure is recorded in its plan, and told; it is not an error of the whole. */
async function runOne(
  app: App,
  { plan, candidate }: Numbered,
  options: ExecutePlanOptions,
  call: OneCall,
): Promise<readonly [plan: string, error: string] | undefined> {
  const ended = (outcome: "ready" | "waits" | "failed" | "stopped", text: string): undefined => {
    call.shared.tell({ type: "candidate_ended", candidate, plan: plan.id, outcome, text });
  };
  try {
    const outcome = await carryOut(app, plan, options, call);
    return ended(outcome.outcome === "strategy" ? "waits" : "ready", outcomeText(outcome));
  } catch (error) {
    if (error instanceof AwaitingInputError) return ended("waits", error.message);
    // A defect of ours is not an outcome of a candidate.
    if (!(error instanceof AgentsError)) throw error;
    if (call.signal.aborted) return ended("stopped", "stopped");
    ended("failed", error.message);
    return [plan.id, error.message];
  }
}

function outcomeText(outcome: ExecuteOutcome): string {
  if (outcome.outcome === "strategy") return "its strategy waits for a yes";
  const { changes, checked } = outcome;
  const amount = `${changes.files} ${changes.files === 1 ? "file" : "files"} (+${changes.insertions} −${changes.deletions})`;
  return `${amount}, ${checked.outcome === "not_checked" ? "not checked" : `checks ${checked.outcome}`}`;
}

interface OneCall extends Call {
  readonly shared: Call;
}

/**
 * The ports of one call, shared by several candidates: events are tagged, a notice that all of them give is told once,
 * and questions come one at a time. While one is open the events of the others are held back, so that nothing is
 * written into the line on which the person types.
 */
class SharedCall {
  readonly #call: Call;
  readonly #noticed = new Set<string>();
  readonly #held: RunEvent[] = [];
  #asking = false;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(call: Call) {
    this.#call = call;
  }

  of({ plan, candidate }: Numbered): OneCall {
    const { signal, answers } = this.#call;
    const shared = { ...this.#call, tell: this.#tell };
    const tell = (event: RunEvent): void => {
      if (isOfCandidates(event)) return this.#tell(event);
      if (event.type === "notice") return this.#notice(event);
      this.#tell({ type: "candidate", candidate, plan: plan.id, event });
    };
    return { signal, answers, tell, ask: this.#asker(candidate, plan), shared };
  }

  readonly #tell = (event: RunEvent): void => {
    if (this.#asking) this.#held.push(event);
    else this.#call.tell(event);
  };

  #notice(event: Extract<RunEvent, { type: "notice" }>): void {
    if (this.#noticed.has(event.text)) return;
    this.#noticed.add(event.text);
    this.#tell(event);
  }

  #asker(candidate: number, { actors }: Plan): Ask {
    return (question) => {
      const text = `Candidate ${candidate} (${actors.execution ?? "no actor"}): ${question.text}`;
      const answer = this.#turn.then(async () => {
        this.#call.signal.throwIfAborted();
        this.#asking = true;
        try {
          return await this.#call.ask({ ...question, text });
        } finally {
          this.#asking = false;
          for (const event of this.#held.splice(0)) this.#call.tell(event);
        }
      });
      this.#turn = answer.catch(() => undefined);
      return answer;
    };
  }
}

function isOfCandidates(event: RunEvent): event is Exclude<RunEvent, SingleRunEvent> {
  return event.type === "candidate" || event.type === "candidate_ended" || event.type === "candidates_started";
}

/** Notices that another process has chosen one of the candidates; then the others need not go on. */
class ChoiceWatch implements Disposable {
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(app: App, group: string) {
    let looking = false;
    const look = async (): Promise<void> => {
      if (looking) return;
      looking = true;
      const store = await app.store();
      const now = await store.read((reader) => findCandidateGroup(reader, group));
      looking = false;
      if (now?.chosen !== undefined) this.#stop.abort();
    };
    // A store that cannot be read now is asked again; the candidates themselves report it.
    this.#timer = setInterval(() => void look().catch(() => (looking = false)), LOOK_MS);
    this.#timer.unref();
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

function interruptedError(group: CandidateGroup): PlanError {
  const [first] = group.plans as readonly [PlanId, ...PlanId[]];
  return new PlanError(`The ${group.plans.length} candidates were interrupted.`, {
    kept: "Finished steps of each are recorded, and all of them continue where they stopped.",
    next: [nextStep("run", { continue: true }), nextStep("plan.compare", { id: first })],
  });
}
