/** The commands that an editor offers after a slash: each is one operation on a plan of the session. */
import type { AvailableCommand } from "@agentclientprotocol/sdk";
import type { CallOptions, CleverAgents } from "../app/open.ts";
import { NotFoundError, UsageError } from "../domain/errors/errors.ts";
import type { EditorClient } from "./editor-client.ts";
import { fileContent } from "./editor-ask.ts";
import type { EditorServers } from "./editor-servers.ts";
import { knownBudget } from "./session-options.ts";
import { checkpointsText, count, plansText, statusText, undoneText, type Spell } from "./editor-words.ts";

const PLAN = { hint: "plan, or nothing for the last one here" };

export const COMMANDS = [
  { name: "continue", description: "Carry on with the last plan as it stands" },
  { name: "status", description: "Show where the last plan stands", input: PLAN },
  { name: "plans", description: "List the plans" },
  { name: "diff", description: "Show what the last plan changed", input: PLAN },
  { name: "apply", description: "Apply the last plan's changes", input: PLAN },
  { name: "undo", description: "Undo an applied plan", input: PLAN },
  { name: "redo", description: "Redo what was undone", input: PLAN },
  { name: "rollback", description: "List checkpoints, or go back to one", input: { hint: "checkpoint" } },
  { name: "budget", description: "Show or set what a plan may cost", input: { hint: "dollars" } },
  { name: "servers", description: "Add the MCP servers of the editor, after a yes" },
] as const satisfies readonly AvailableCommand[];

export type CommandName = (typeof COMMANDS)[number]["name"];

/** A prompt that is a command; undefined for any other text, also one that begins with another slash. */
export function commandIn(request: string): { readonly name: CommandName; readonly rest: string } | undefined {
  const [, word, rest = ""] = /^\/([a-z]+)(?:\s+(.*))?$/s.exec(request) ?? [];
  const found = COMMANDS.find(({ name }) => name === word);
  return found === undefined ? undefined : { name: found.name, rest: rest.trim() };
}

export interface CommandParts {
  readonly agents: CleverAgents;
  readonly client: EditorClient;
  readonly call: CallOptions;
  readonly spell: Spell;
  /** The last plan of the session. */
  readonly plan: string | undefined;
  /** The operation is about this plan. */
  readonly onPlan: (plan: string) => void;
  /** Those that the editor handed over. */
  readonly servers: EditorServers;
  /** From now on plans of this session may cost so much. */
  readonly setBudget: (dollars: string) => Promise<void>;
}

export async function runCommand(
  { name, rest }: { readonly name: Exclude<CommandName, "continue">; readonly rest: string },
  parts: CommandParts,
): Promise<string> {
  const { agents, call, spell } = parts;
  if (name === "plans") return plansText(await agents.run("plan.list", { limit: 20 }, call));
  if (name === "budget") return budget(rest, parts);
  if (name === "servers") return parts.servers.add(call);
  const named = name === "rollback" ? undefined : rest || undefined;
  const plan = named ?? requiredPlan(parts);
  parts.onPlan(plan);
  switch (name) {
    case "status":
      return statusText(await agents.run("plan.status", { plan }, call), spell);
    case "diff":
      return diff(plan, parts);
    case "apply": {
      const outcome = await agents.run("plan.apply", { plan }, call);
      if (!outcome.applied) return "Nothing was applied; the plan waits.";
      return `Applied ${count(outcome.artifacts, "file")}. \`/undo\` takes them out again.`;
    }
    case "undo": {
      const outcome = await agents.run("plan.undo", { plan }, call);
      return outcome.undone ? `${undoneText("Undone", outcome)} \`/redo\` brings them back.` : "Nothing was undone.";
    }
    case "redo": {
      const outcome = await agents.run("plan.redo", { plan }, call);
      return outcome.redone ? undoneText("Redone", outcome) : "Nothing was redone.";
    }
    case "rollback":
      return rollback(plan, rest, parts);
  }
}

function requiredPlan({ plan }: CommandParts): string {
  if (plan !== undefined) return plan;
  throw new NotFoundError("plan", "last", { next: [{ text: "say what you want done" }] });
}

/** As a tool call, so that the editor shows the files in its own way. */
async function diff(plan: string, { agents, client, call }: CommandParts): Promise<string> {
  const { texts = [], summary } = await agents.run("plan.artifacts", { plan, texts: true }, call);
  if (summary.total === 0) return "The plan changed nothing.";
  client.send({
    sessionUpdate: "tool_call",
    toolCallId: `${plan}/diff/${Date.now()}`,
    title: `Changes of plan ${plan}`,
    kind: "edit",
    status: "completed",
    content: texts.map(fileContent),
    locations: texts.flatMap(({ place }) => (place === null ? [] : [{ path: place }])),
  });
  return texts.map(({ path }) => `- ${path}`).join("\n");
}

async function rollback(plan: string, checkpoint: string, { agents, call }: CommandParts): Promise<string> {
  const wanted = checkpoint === "" ? {} : { checkpoint };
  const outcome = await agents.run("plan.rollback", { plan, ...wanted }, call);
  if ("checkpoints" in outcome) return checkpointsText(outcome);
  if (!outcome.rolledBack) return "Nothing was rolled back.";
  const { toolCallsUndone } = outcome.impact;
  return `Rolled back: ${count(toolCallsUndone, "tool call")} discarded. \`/continue\` carries on from there.`;
}

/** Of the session's plans from now on, and of the last one where it may still spend. */
async function budget(dollars: string, parts: CommandParts): Promise<string> {
  const { agents, plan, call, setBudget } = parts;
  if (dollars !== "") await setBudget(knownBudget(dollars));
  if (plan === undefined) {
    if (dollars === "") throw new UsageError("There is no plan yet.", { next: [{ text: "/budget <dollars>" }] });
    return `The next plan may cost $${dollars}.`;
  }
  const { phase, state } = await agents.run("plan.status", { plan }, call);
  const open = phase !== "apply" && state !== "cancelled";
  const change = dollars !== "" && open ? { dollars } : {};
  const { cost } = await agents.run("plan.budget", { plan, ...change }, call);
  const limit = cost.capUsd === null ? "no limit" : `at most $${cost.capUsd.toFixed(2)}`;
  return `$${(cost.spentUsd + cost.assumedUsd).toFixed(4)} spent, ${limit}.`;
}
