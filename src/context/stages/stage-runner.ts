/**
 * Runs the stages of one assembly: a custom stage where there is one, the default otherwise. A custom stage that
 * throws, does not settle in time or breaks its contract is replaced by the default for this assembly, and named as a
 * gap: a context that is not quite as ordered is better than none, as long as it says so. Custom stages run in the
 * calling thread; one that spins cannot be stopped.
 */
import type { Gap, StageName, StageTrace } from "../model/context-model.ts";
import type { Stages } from "../model/stage-interfaces.ts";

/** How long a custom stage may take to settle its promise. */
const PATIENCE_MS = 10_000;

/** The result of each stage. */
interface StageResults {
  readonly select: ReturnType<Stages["select"]["select"]>;
  readonly allocate: ReturnType<Stages["allocate"]["allocate"]>;
  readonly execute: Awaited<ReturnType<Stages["execute"]["execute"]>>;
  readonly deduplicate: ReturnType<Stages["deduplicate"]["deduplicate"]>;
  readonly resolve_depth: ReturnType<Stages["resolve_depth"]["resolve"]>;
  readonly score: ReturnType<Stages["score"]["score"]>;
  readonly pack: ReturnType<Stages["pack"]["pack"]>;
  readonly order: ReturnType<Stages["order"]["order"]>;
  readonly preamble: ReturnType<Stages["preamble"]["generate"]>;
}

export interface StageCall<Name extends StageName> {
  readonly stage: Name;
  readonly in: number;
  readonly out: (result: StageResults[Name]) => number;
  readonly run: (component: Stages[Name]) => StageResults[Name] | Promise<StageResults[Name]>;
  /** The problem with a result, as the end of a sentence; asked for custom stages only. */
  readonly problem: (result: StageResults[Name]) => string | undefined;
}

export class StageRunner {
  readonly trace: StageTrace[] = [];
  readonly gaps: Gap[] = [];
  readonly #defaults: Stages;
  readonly #custom: Partial<Stages>;
  readonly #patienceMs: number;

  constructor(defaults: Stages, custom: Partial<Stages>, patienceMs: number = PATIENCE_MS) {
    this.#defaults = defaults;
    this.#custom = custom;
    this.#patienceMs = patienceMs;
  }

  async run<Name extends StageName>(call: StageCall<Name>): Promise<StageResults[Name]> {
    const { stage } = call;
    const custom = this.#custom[stage];
    const started = performance.now();
    if (custom !== undefined) {
      const attempt = await this.#attempt(call, custom);
      if ("result" in attempt) {
        this.#record(call, attempt.result, custom, started);
        return attempt.result;
      }
      const reason = `${nameOf(custom)} ${attempt.problem}; the default was used instead`;
      this.gaps.push({ kind: "stage", name: stage, reason });
    }
    const component = this.#defaults[stage];
    const result = await call.run(component);
    this.#record(call, result, component, started, custom === undefined ? undefined : "in place of the custom stage");
    return result;
  }

  async #attempt<Name extends StageName>(
    call: StageCall<Name>,
    custom: Stages[Name],
  ): Promise<{ readonly result: StageResults[Name] } | { readonly problem: string }> {
    let timer: NodeJS.Timeout | undefined;
    try {
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error("it did not settle in time")), this.#patienceMs);
      });
      const result = await Promise.race([call.run(custom), late]);
      const problem = call.problem(result);
      return problem === undefined ? { result } : { problem };
    } catch (error) {
      return { problem: `failed: ${(error instanceof Error ? error.message : String(error)).slice(0, 200)}` };
    } finally {
      clearTimeout(timer);
    }
  }

  #record<Name extends StageName>(
    call: StageCall<Name>,
    result: StageResults[Name],
    component: { readonly name?: unknown },
    started: number,
    note?: string,
  ): void {
    const durationMs = Math.round(performance.now() - started);
    const { stage, in: given, out } = call;
    this.trace.push({ stage, component: nameOf(component), in: given, out: out(result), durationMs, note });
  }
}

function nameOf(component: { readonly name?: unknown }): string {
  return typeof component.name === "string" && component.name !== "" ? component.name.slice(0, 60) : "custom stage";
}
