/**
 * The door of plan workers. It opens the same application as `openCleverAgents`, for the one thing that no user calls:
 * to carry a queued plan on without a person.
 */
import { actingFor, type App } from "./base/app.ts";
import type { Call } from "./base/call.ts";
import { maskingSecretsOf } from "../platform/masking.ts";
import type { JobEnd } from "../ledger/jobs.ts";
import type { Store } from "../store/port.ts";
import { composeApp, type OpenOptions } from "./open.ts";
import type { QueuedPlan } from "./procedures/carry-alone.ts";

/** The application, as plan workers use it. */
export class Background {
  readonly #app: App;

  constructor(options: OpenOptions) {
    this.#app = composeApp(options);
  }

  /** Opening it recovers what a crash left. */
  store(): Promise<Store> {
    return maskingSecretsOf(this.#app.environment, () => this.#app.store());
  }

  /** Carries the plan on for this user, as far as it comes by itself; rejects for nothing that is about the plan. */
  async carry(plan: QueuedPlan, call: Pick<Call, "signal" | "tell"> & { readonly user: string }): Promise<JobEnd> {
    const { withOwnCommandPolicy } = await import("../confinement/command-policy.ts");
    const { carryAlone } = await import("./procedures/carry-alone.ts");
    const run = (): Promise<JobEnd> => carryAlone(this.#app, plan, call);
    const acting = (): Promise<JobEnd> => actingFor(call.user, run);
    return maskingSecretsOf(this.#app.environment, () => withOwnCommandPolicy(acting));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#app[Symbol.asyncDispose]();
  }
}
