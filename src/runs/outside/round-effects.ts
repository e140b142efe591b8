/** The acts of the step that an outside agent works on, each a durable step under its key. */
import type { AgentEffects } from "../../actors/loop/actor-effects.ts";
import type { Order } from "../../ledger/records.ts";

export interface RoundEffects extends Pick<AgentEffects, "once" | "hear" | "askUser" | "callTool" | "signal"> {
  /** The position of the next record of the step. */
  next(): Order;
  /** The agent was told so many messages of people. */
  beginsWith(heard: number): void;
}
