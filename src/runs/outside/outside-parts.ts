/** Everything that an outside agent's work needs besides the plan. */
import type { OpenAgent } from "../../actors/outside/agent-port.ts";
import type { ModelRef, ModelUsage } from "../../actors/models/model.ts";
import type { CountModelTokens } from "../../actors/providers/prices.ts";
import type { Provider } from "../../actors/providers/providers.ts";
import type { AcpActorDefinition } from "../../domain/actor/acp-actor.ts";
import type { Microdollars } from "../../domain/money/money.ts";
import type { Budget } from "../../ledger/budgets.ts";
import type { Lease } from "../../ledger/leases.ts";

export interface OutsideParts {
  /** Of the lease's plan: the one that its models have. */
  readonly budget: (lease: Lease) => Promise<Budget>;
  readonly providers: readonly Provider[];
  /** The model of ours to which an agent's questions go. */
  readonly modelOf: (actor: AcpActorDefinition) => ModelRef;
  readonly costOf: (model: ModelRef, usage: ModelUsage) => Microdollars | undefined;
  readonly count: CountModelTokens;
  /** Values that no model may be shown. */
  readonly known: readonly string[];
  /** How many agents may run at the same time. */
  readonly atOnce: number;
  readonly openAgent: OpenAgent;
}
