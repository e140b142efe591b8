/**
 * Guards over the calls of an outside agent. One that asks for permission is answered call by call; of one that does
 * not, all calls of an answer are judged before it sees the answer. Either way a call is judged in the transaction that
 * begins it, so no two take the last place of a limit. Nothing waits for a person: a call that needs one ends the turn,
 * and after the answer the step goes on with the recorded answers.
 */
import { isDeepStrictEqual } from "node:util";
import type { AgentPermission } from "../../actors/outside/agent-port.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import type { Guards } from "../../domain/profile/guards.ts";
import { guardedTool, outsideToolName } from "../../domain/profile/outside-tools.ts";
import type { JsonValue } from "../../domain/values/json.ts";
import type { PlanExecutionContext } from "../../execution/workspace/plan-execution-context.ts";
import { findPlanGuards } from "../../ledger/guard-checks.ts";
import type { Lease } from "../../ledger/leases.ts";
import type { OfferedTools } from "./offered-tools.ts";
import { NOT_CARRIED_OUT, TURN_CALL, TURN_INDEX, type Round } from "./round-recorder.ts";

/** Whether the guards have anything to say about a call. */
function asksGuards(guards: Guards): boolean {
  return (
    guards.toolDenylist.length > 0 ||
    guards.toolAllowlist !== undefined ||
    guards.requireApprovalForWrites ||
    guards.maxToolCalls !== undefined ||
    guards.maxToolCallsPerStep !== undefined ||
    Object.keys(guards.maxCallsPerTool).length > 0
  );
}

type Recorded = { readonly rejected: readonly string[] } | undefined;

export class AgentGuards {
  readonly #lease: Lease;
  readonly #context: PlanExecutionContext;
  readonly #step: string;
  readonly #agent: string;
  /** Whether what was done in the round is recorded: then it is not judged again. */
  readonly #isRecorded: (round: number) => Recorded;
  readonly #offered: OfferedTools;
  /** The answers that the agent got, by the call it asked about. */
  readonly #told = new WeakMap<Round, Map<string, "allow" | "reject">>();

  constructor(parts: {
    lease: Lease;
    context: PlanExecutionContext;
    step: string;
    agent: string;
    isRecorded: (round: number) => Recorded;
    offered: OfferedTools;
  }) {
    this.#offered = parts.offered;
    this.#lease = parts.lease;
    this.#context = parts.context;
    this.#step = parts.step;
    this.#agent = parts.agent;
    this.#isRecorded = parts.isRecorded;
  }

  /** Whether there is anything to ask now: a plan's guards may be tightened while its agent works. */
  async active(): Promise<boolean> {
    return (await this.#guards()) !== undefined;
  }

  async #guards(): Promise<Guards | undefined> {
    const { store, planId } = this.#lease;
    const found = await store.read((reader) => findPlanGuards(reader, planId));
    return found !== undefined && asksGuards(found.guards) ? found.guards : undefined;
  }

  /**
   * Before the agent sees the answer: of an agent that asks, only the calls about which it does not.
   * @throws the guard's error about the first call that may not be made.
   */
  async judgeAnswer(round: Round, asks: boolean): Promise<void> {
    if (this.#isRecorded(round.number) !== undefined || !(await this.active())) return;
    try {
      for (const [index, { tool, params }] of round.calls.entries()) {
        const name = outsideToolName(this.#agent, tool);
        // The pipeline asks the guards about tools of ours.
        if (this.#offered.named(tool) !== undefined) continue;
        if (!asks || !guardedTool(name).writes) await this.#begin(round, { tool: name, params, index });
      }
    } catch (error) {
      const end = { outcome: "failed", durationMs: 0, error: NOT_CARRIED_OUT } as const;
      for (const { handle } of round.allowed.splice(0)) await handle.close(end);
      throw error;
    }
  }

  /** A tool that is denied is refused, and the agent goes on without it. @throws what ends the turn. */
  async permit(round: Round, request: AgentPermission): Promise<"allow" | "reject"> {
    const told = this.#told.get(round) ?? new Map<string, "allow" | "reject">();
    this.#told.set(round, told);
    // Some ask twice about one call: about the change, and about the place.
    const before = told.get(request.id);
    if (before !== undefined) return before;
    const { ours, ...meant } = this.#meant(round, request);
    const answer = ours ? "allow" : await this.#answer(round, meant);
    told.set(request.id, answer);
    return answer;
  }

  async #answer(round: Round, call: JudgedCall): Promise<"allow" | "reject"> {
    const known = this.#isRecorded(round.number);
    if (known !== undefined) return known.rejected.includes(call.tool) ? "reject" : "allow";
    try {
      await this.#begin(round, call);
      return "allow";
    } catch (error) {
      if (!isForbidden(error)) throw error;
      round.rejected.push(call.tool);
      return "reject";
    }
  }

  /**
   * When the files are compared: calls that no guard was asked about, because the agent was to ask and did not, or
   * because the changes have no call. @throws the guard's error; then the changes are not recorded.
   */
  async judgeUnasked(round: Round, changed: boolean): Promise<void> {
    const guards = await this.#guards();
    if (guards === undefined) return;
    const elsewhere = this.#offered.cameHere(round);
    if (round.calls.length === elsewhere.size) {
      if (!changed || !guards.requireApprovalForWrites) return;
      await this.#begin(round, { tool: outsideToolName(this.#agent, TURN_CALL.tool), params: {}, index: TURN_INDEX });
      return;
    }
    // Agents leave out the rest of an answer when one of its calls is refused.
    if (round.rejected.length > 0 && !changed) return;
    const judged = new Set([...elsewhere, ...round.allowed.map(({ index }) => index)]);
    const rejected = [...round.rejected];
    for (const [index, { tool, params }] of round.calls.entries()) {
      const name = outsideToolName(this.#agent, tool);
      if (judged.has(index)) continue;
      if (rejected.includes(name)) rejected.splice(rejected.indexOf(name), 1);
      else await this.#begin(round, { tool: name, params, index });
    }
  }

  async #begin(round: Round, { tool, params, index }: JudgedCall): Promise<void> {
    const { writes } = guardedTool(tool);
    const guarded = { step: this.#step, writes, within: true };
    const handle = await this.#context.startChangeset({ decision: round.decision, tool, params, guarded });
    round.allowed.push({ tool, index, handle });
  }

  /** The call of the answer that the agent asks about. */
  #meant(round: Round, { id, tool: asked, params: given }: AgentPermission): JudgedCall & { readonly ours: boolean } {
    const begun = new Set(round.allowed.map(({ index }) => index));
    const free = round.calls.flatMap((call, index) => (begun.has(index) ? [] : [{ ...call, index }]));
    const found =
      free.find((call) => call.id !== "" && call.id === id) ??
      free.find(({ params }) => isDeepStrictEqual(params, given)) ??
      free.find(({ tool }) => tool === asked || guardedTool(outsideToolName(this.#agent, tool)).tool === asked) ??
      // Agents have other titles than names for their tools.
      (free.length === 1 ? free[0] : undefined);
    if (found !== undefined) {
      const { tool, params, index } = found;
      const ours = this.#offered.named(tool) !== undefined;
      return { tool: outsideToolName(this.#agent, tool), params, index, ours };
    }
    const params: JsonValue = JSON.parse(JSON.stringify(given)) as JsonValue;
    return { tool: outsideToolName(this.#agent, asked), params, index: undefined, ours: false };
  }
}

interface JudgedCall {
  readonly tool: string;
  readonly params: JsonValue;
  /** Among the calls of the answer; undefined for one that the agent thought of itself. */
  readonly index: number | undefined;
}

/** Another tool may do; a limit that is used up stays so, and an approval is for a person to give. */
function isForbidden(error: unknown): boolean {
  if (!(error instanceof AgentsError) || error.code !== "guard_refused") return false;
  return error.detail["guard"] === "tool_denylist" || error.detail["guard"] === "tool_allowlist";
}
