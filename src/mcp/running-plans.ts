/**
 * Plans that are carried out while their client does other things. Each is one call of an operation that may take long.
 * It lives in this process and nowhere else: everything that counts is in the store, where any process finds it. When
 * the server ends, all of them stop where they can go on later.
 */
import type { CleverAgents } from "../app/open.ts";
import type { InputOf, OperationName } from "../app/table/operation-table.ts";
import { ConflictError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { RunEvent, Tell } from "../domain/run-event.ts";

/** Told before this process owns the plan. */
const EARLY: ReadonlySet<RunEvent["type"]> = new Set(["notice", "progress", "plan_made", "run_started"]);

export class RunningPlan {
  readonly stop: AbortController = new AbortController();
  readonly listeners: Set<Tell> = new Set();
  readonly notices: string[] = [];
  plan: string | undefined;
  isOver = false;
  failure: unknown;
  /** Resolves when the work has ended, with or without a failure. */
  readonly ended: Promise<void>;
  /** Resolves when the plan is worked on, or the work has ended. */
  readonly begun: Promise<void>;

  constructor(work: (signal: AbortSignal, tell: Tell) => Promise<unknown>, onPlan: (plan: string) => void) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const know = (plan: string): void => {
      if (this.plan !== undefined) return;
      this.plan = plan;
      onPlan(plan);
    };
    const tell = (event: RunEvent): void => {
      if (event.type === "plan_made" || event.type === "run_started") know(event.plan);
      if (event.type === "notice") this.notices.push(event.text);
      for (const listen of this.listeners) listen(event);
      if (!EARLY.has(event.type)) resolve();
    };
    this.ended = this.#end(work(this.stop.signal, tell), know);
    this.begun = Promise.race([promise, this.ended]);
  }

  async #end(work: Promise<unknown>, know: (plan: string) => void): Promise<void> {
    try {
      const output = await work;
      if (typeof output === "object" && output !== null && "planId" in output) know(String(output.planId));
    } catch (error) {
      this.failure = error;
    }
    this.isOver = true;
  }
}

export class RunningPlans {
  readonly #agents: CleverAgents;
  readonly #known = new Map<string, RunningPlan>();
  readonly #open = new Set<RunningPlan>();
  #isClosing = false;

  constructor(agents: CleverAgents) {
    this.#agents = agents;
  }

  /** The last one of the plan here, which may have ended. */
  of(plan: string): RunningPlan | undefined {
    return this.#known.get(plan);
  }

  /** One process is one owner of leases: a second call on the same plan would take it from the first. */
  requireFree(plan: string): void {
    const running = this.#known.get(plan);
    if (running === undefined || running.isOver) return;
    throw new ConflictError(
      `This server works on plan ${plan} already.`,
      { expected: "a plan that nothing works on", actual: "working" },
      { kept: "The work goes on.", next: [nextStep("plan.wait", { plan })] },
    );
  }

  async begin<Name extends OperationName>(operation: Name, input: InputOf<Name>, listen: Tell): Promise<RunningPlan> {
    const running: RunningPlan = new RunningPlan(
      (signal, tell) => this.#agents.run(operation, input, { signal, tell, answers: "none" }),
      (plan) => this.#known.set(plan, running),
    );
    this.#open.add(running);
    void running.ended.then(() => this.#open.delete(running));
    if (this.#isClosing) running.stop.abort();
    running.listeners.add(listen);
    await running.begun;
    running.listeners.delete(listen);
    if (running.plan === undefined) throw running.failure;
    return running;
  }

  /** Stops all work, and hands the plans back. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const running of this.#open) running.stop.abort();
    await Promise.all([...this.#open].map((running) => running.ended));
  }
}
