import { isMcpServerName, namesMcpTool } from "../names/mcp-tool-name.ts";
import { toolWord } from "../names/tool-names.ts";

/**
 * Guards hold a plan's tools back, even where its thresholds allow a step. Guards are part of the plan's frozen
 * profile; afterwards they can only be made tighter. They are judged here, without any input or output, and asked
 * before every call in the transaction that puts the call on record, so that no two calls can take the last place of a
 * limit.
 */
export interface Guards {
  /** Patterns of tools that may not be called; `*` stands for any characters. */
  readonly toolDenylist: readonly string[];
  /** Undefined: every tool that is not denied. */
  readonly toolAllowlist: readonly string[] | undefined;
  readonly maxToolCallsPerStep: number | undefined;
  readonly maxToolCalls: number | undefined;
  /** By pattern: how often the tools it fits may be called together. */
  readonly maxCallsPerTool: Readonly<Record<string, number>>;
  /** The first write of a step waits until a person allowed the step to write. */
  readonly requireApprovalForWrites: boolean;
  readonly requireApprovalForApply: boolean;
}

export const NO_GUARDS: Guards = {
  toolDenylist: [],
  toolAllowlist: undefined,
  maxToolCallsPerStep: undefined,
  maxToolCalls: undefined,
  maxCallsPerTool: {},
  requireApprovalForWrites: false,
  requireApprovalForApply: false,
};

/** The additions that made a plan's guards tighter after the plan was created. */
export interface Tightening {
  readonly denied: readonly string[];
  readonly maxToolCalls: number | undefined;
  readonly maxToolCallsPerStep: number | undefined;
}

export function tightened(guards: Guards, by: Tightening): Guards {
  return {
    ...guards,
    toolDenylist: [...guards.toolDenylist, ...by.denied],
    maxToolCalls: smaller(guards.maxToolCalls, by.maxToolCalls),
    maxToolCallsPerStep: smaller(guards.maxToolCallsPerStep, by.maxToolCallsPerStep),
  };
}

function smaller(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

/** `mcp__server` stands for every tool of that MCP server, as it does for actors. */
export function toolMatches(pattern: string, tool: string): boolean {
  if (isMcpServerName(pattern) && namesMcpTool(pattern, tool)) return true;
  const parts = toolWord(pattern).split("*").map(escaped);
  return new RegExp(`^${parts.join(".*")}$`, "su").test(toolWord(tool));
}

function escaped(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

export interface GuardedCall {
  readonly tool: string;
  readonly step: string;
  readonly writes: boolean;
}

/** The calls on record that were let through, also those that failed or were interrupted: they ran. */
export interface CallCounts {
  /** Of the plan, by tool. */
  readonly tools: ReadonlyMap<string, number>;
  readonly step: number;
  /** How often this very call failed already. */
  readonly failed: number;
}

export type GuardName =
  | "tool_denylist"
  | "tool_allowlist"
  | "max_retries_per_step"
  | "max_tool_calls_per_step"
  | "max_tool_calls"
  | "max_calls_per_tool"
  | "require_approval_for_writes";

export interface Refusal {
  readonly guard: GuardName;
  /** A whole sentence, without what to do about it. */
  readonly reason: string;
  readonly limit?: number;
}

/** The first guard that speaks against the call: lists, then limits, then approval. */
export function judgeCall(
  call: GuardedCall,
  rules: { readonly guards: Guards; readonly maxRetriesPerStep: number | undefined },
  counts: CallCounts,
  approved: boolean,
): Refusal | undefined {
  const { guards } = rules;
  const { tool, step } = call;
  return (
    refusalByList(guards, tool) ??
    overLimit(call, rules, counts) ??
    (call.writes && guards.requireApprovalForWrites && !approved
      ? {
          guard: "require_approval_for_writes",
          reason: `The step "${step}" wants to write with "${tool}", and you have not allowed it yet.`,
        }
      : undefined)
  );
}

/** The lists alone, which hold for every call of the tool. */
export function refusalByList(guards: Guards, tool: string): Refusal | undefined {
  const denied = guards.toolDenylist.find((pattern) => toolMatches(pattern, tool));
  if (denied !== undefined) {
    return { guard: "tool_denylist", reason: `The tool "${tool}" may not be called: "${denied}" is denied.` };
  }
  const { toolAllowlist: allowed } = guards;
  if (allowed !== undefined && !allowed.some((pattern) => toolMatches(pattern, tool))) {
    const names = allowed.length === 0 ? "none is" : `only these are: ${allowed.join(", ")}`;
    return { guard: "tool_allowlist", reason: `The tool "${tool}" is not among those allowed (${names}).` };
  }
  return undefined;
}

function overLimit(
  { tool, step }: GuardedCall,
  { guards, maxRetriesPerStep }: { readonly guards: Guards; readonly maxRetriesPerStep: number | undefined },
  counts: CallCounts,
): Refusal | undefined {
  const reached = (used: number, limit: number | undefined): limit is number => limit !== undefined && used >= limit;
  if (maxRetriesPerStep !== undefined && counts.failed > maxRetriesPerStep) {
    const reason = `The step "${step}" failed ${times(counts.failed)}, and may be tried again ${times(maxRetriesPerStep)}.`;
    return { guard: "max_retries_per_step", reason, limit: maxRetriesPerStep };
  }
  const { maxToolCallsPerStep: perStep, maxToolCalls: perPlan } = guards;
  if (reached(counts.step, perStep)) {
    const reason = `The step "${step}" has called tools ${times(counts.step)}, and may do so ${times(perStep)}.`;
    return { guard: "max_tool_calls_per_step", reason, limit: perStep };
  }
  const all = sum(counts.tools.values());
  if (reached(all, perPlan)) {
    const reason = `The plan has called tools ${times(all)}, and may do so ${times(perPlan)}.`;
    return { guard: "max_tool_calls", reason, limit: perPlan };
  }
  for (const [pattern, limit] of Object.entries(guards.maxCallsPerTool)) {
    const used = callsOf(pattern, counts.tools);
    if (!toolMatches(pattern, tool) || used < limit) continue;
    const reason = `The plan has called "${pattern}" ${times(used)}, and may do so ${times(limit)}.`;
    return { guard: "max_calls_per_tool", reason, limit };
  }
  return undefined;
}

/** How often the tools that fit the pattern were called. */
export function callsOf(pattern: string, tools: ReadonlyMap<string, number>): number {
  return sum([...tools].flatMap(([tool, calls]) => (toolMatches(pattern, tool) ? [calls] : [])));
}

/** Whether the decision needs the number of earlier tool calls. */
export function hasLimits({ maxToolCalls, maxToolCallsPerStep, maxCallsPerTool }: Guards): boolean {
  return maxToolCalls !== undefined || maxToolCallsPerStep !== undefined || Object.keys(maxCallsPerTool).length > 0;
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const one of numbers) total += one;
  return total;
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}
