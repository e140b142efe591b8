import { AgentsError, type ErrorExtras } from "../../domain/errors/errors.ts";
import { nextStep, type NextStep } from "../../domain/errors/next-step.ts";
import type { ModelAttempt, ModelRef, ModelUsage } from "./model.ts";

/**
 * The ways a model call can fail, as far as a caller can act on them. Nothing of the library below gets out: its errors
 * carry the whole prompt and the endpoint's headers, so they are read here and then dropped, never kept as a cause.
 */
export type ModelErrorKind =
  | "rate_limit"
  | "network"
  | "overloaded"
  | "server"
  | "authentication"
  | "unavailable"
  | "context_too_long"
  | "refused"
  | "rejected"
  | "malformed"
  | "timeout"
  | "cancelled";

/** Waiting may help, so the same call is sent again. A timeout is not among them: it has cost the whole wait. */
const RETRIED: ReadonlySet<ModelErrorKind> = new Set(["rate_limit", "network", "overloaded", "server"]);

/**
 * Another model may well answer. A call that is wrong in itself, or that the user stopped, would fail with any model.
 */
const FALLS_BACK: ReadonlySet<ModelErrorKind> = new Set([
  "rate_limit",
  "network",
  "overloaded",
  "server",
  "authentication",
  "unavailable",
  "timeout",
]);

/**
 * The kinds after which the endpoint may have worked on the call. With all other kinds the endpoint itself said that it
 * did not.
 */
const MAY_BE_BILLED: ReadonlySet<ModelErrorKind> = new Set(["network", "malformed", "timeout", "cancelled"]);

export interface ModelErrorFacts {
  readonly model: ModelRef;
  /** How long the provider asked to wait. */
  readonly retryAfterMs?: number | undefined;
  /** Tokens that may have been billed before it failed. */
  readonly usage?: ModelUsage | undefined;
  /** There was no connection over which it could have been sent. */
  readonly unsent?: boolean;
  /** A part of the answer had come when the other end broke it off. */
  readonly brokenOff?: boolean;
  /** We ended it: the user stopped it, or it took too long or became too long. */
  readonly endedByUs?: boolean;
  readonly attempts?: readonly ModelAttempt[];
}

export class ModelError extends AgentsError {
  readonly kind: ModelErrorKind;
  readonly model: ModelRef;
  readonly retryAfterMs: number | undefined;
  readonly usage: ModelUsage | undefined;
  readonly unsent: boolean;
  readonly brokenOff: boolean;
  readonly endedByUs: boolean;
  /** Every try that was made: what was billed although it came to nothing. */
  readonly attempts: readonly ModelAttempt[];

  constructor(kind: ModelErrorKind, message: string, facts: ModelErrorFacts, extras: ErrorExtras = {}) {
    const { model, retryAfterMs, usage, unsent = false, brokenOff = false, endedByUs = false, attempts = [] } = facts;
    super(`model_${kind}`, message, {
      kept: "Nothing changed; earlier steps are kept.",
      next: nextSteps(kind, model),
      ...extras,
      detail: { provider: model.provider, model: model.model, attempts: attempts.length, ...extras.detail },
    });
    this.kind = kind;
    this.model = model;
    this.retryAfterMs = retryAfterMs;
    this.usage = usage;
    this.unsent = unsent;
    this.brokenOff = brokenOff;
    this.endedByUs = endedByUs;
    this.attempts = attempts;
  }

  get retried(): boolean {
    return RETRIED.has(this.kind);
  }

  get fallsBack(): boolean {
    return FALLS_BACK.has(this.kind);
  }

  get mayBeBilled(): boolean {
    return this.usage !== undefined || this.brokenOff || (MAY_BE_BILLED.has(this.kind) && !this.unsent);
  }

  /** The same with what was tried. */
  after(attempts: readonly ModelAttempt[]): ModelError {
    const tried = attempts.length > 1 ? ` It was tried ${attempts.length} times.` : "";
    return this.#again(`${this.message}${tried}`, { attempts });
  }

  /** The same with what may have been billed. */
  billed(usage: ModelUsage): ModelError {
    return this.#again(this.message, { usage });
  }

  /** The same of an answer that had begun: only its upper bound is known to cover it. */
  inTheMiddle(): ModelError {
    return this.#again(this.message, { brokenOff: true });
  }

  /** The same with the operation that continues from here, before all that help against it. */
  goingOn(step: NextStep): ModelError {
    return this.#again(this.message, {}, [step, ...this.next]);
  }

  #again(message: string, change: Partial<ModelErrorFacts>, next: readonly NextStep[] = this.next): ModelError {
    const { kind, model, retryAfterMs, usage, unsent, brokenOff, endedByUs, attempts, kept = "" } = this;
    const { attempts: _count, ...detail } = this.detail;
    return new ModelError(
      kind,
      message,
      { model, retryAfterMs, usage, unsent, brokenOff, endedByUs, attempts, ...change },
      { kept, next, detail },
    );
  }
}

export function callStoppedError(model: ModelRef): ModelError {
  return new ModelError("cancelled", `The call of ${model.provider}/${model.model} was stopped.`, {
    model,
    endedByUs: true,
  });
}

function nextSteps(kind: ModelErrorKind, { provider, model }: ModelRef): NextStep[] {
  switch (kind) {
    case "rate_limit":
    case "overloaded":
    case "server":
      return [
        { text: "try again later" },
        nextStep("config.set", { key: `provider.${provider}.fallbacks`, value: "<provider>/<model>" }),
      ];
    case "network":
      return [
        { text: "check the connection and try again" },
        nextStep("config.get", { key: `provider.${provider}.base-url` }),
      ];
    case "authentication":
      return [
        nextStep("config.get", { key: `provider.${provider}.api-key` }),
        nextStep("config.set", { key: `provider.${provider}.api-key-env`, value: "<variable>" }),
      ];
    case "unavailable":
      return [
        { text: `check the name "${model}" with the provider` },
        nextStep("config.get", { key: `provider.${provider}.models` }),
      ];
    case "context_too_long":
      return [{ text: "use a smaller context or a model with a larger window" }];
    case "refused":
      return [{ text: "say the request in other words, or use another model" }];
    case "rejected":
      return [{ text: "check the actor's options and the model's name" }];
    case "malformed":
      return [{ text: "try again, or use another model" }];
    case "timeout":
      return [
        { text: "try again" },
        nextStep("config.set", { key: `provider.${provider}.timeout`, value: "<seconds>" }),
      ];
    case "cancelled":
      return [{ text: "try again when you like" }];
  }
}
