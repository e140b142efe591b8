/** The outcomes of operations as an editor's user reads them. */
import type { OutputOf } from "../app/table/operation-table.ts";
import type { AgentsError } from "../domain/errors/errors.ts";
import type { NextStep } from "../domain/errors/next-step.ts";
import type { SessionOutcome } from "./editor-conversation.ts";
import { checkedText } from "./editor-ask.ts";

export type Spell = (step: NextStep) => string;

/** `heard` is the text that the models said last while the user watched. */
export function outcomeText(outcome: SessionOutcome, heard: string): string {
  if (!("outcome" in outcome)) return outcome.applied ? "Applied." : "Nothing was applied; the plan waits.";
  if (outcome.outcome === "told" || outcome.outcome === "queued")
    return "Another process works on the plan and hears this at its next step.";
  if (outcome.outcome === "candidates") return "The candidates wait; `agents plan compare` shows them.";
  if (outcome.outcome === "strategy") {
    return "Nothing was carried out; the plan waits. Say what should be different, or `/continue` to carry it out.";
  }
  const { answer, changes, checked, obstacle } = outcome;
  const said = answer === null || heard.includes(answer.trim()) ? "" : `${answer}\n\n`;
  if (changes.files === 0) return said === "" && answer === null ? "Nothing was changed." : said;
  const amount = `${count(changes.files, "file")} (+${changes.insertions} −${changes.deletions})`;
  return said + [appliedText(outcome, amount), checkedText(checked), obstacle ?? ""].filter(Boolean).join(" ");
}

function appliedText(outcome: Extract<SessionOutcome, { outcome: "executed" }>, amount: string): string {
  if (!("applied" in outcome) || outcome.applied !== true) {
    const how = outcome.obstacle === null ? " `/apply` applies them, `/diff` shows them." : "";
    return `${amount} changed in the sandbox; your files are as they were.${how}`;
  }
  return `Applied ${amount}${landedText(outcome.landings)}. \`/undo\` takes them out again.`;
}

function landedText(landings: readonly { readonly branch: string | null; readonly commit: string | null }[]): string {
  const places = landings.flatMap(({ branch, commit }) =>
    branch === null || commit === null ? [] : [`${branch} (commit ${commit.slice(0, 10)})`],
  );
  return places.length === 0 ? "" : ` to ${places.join(", ")}`;
}

export function undoneText(deed: "Undone" | "Redone", outcome: { readonly landings: readonly Landing[] }): string {
  const files = outcome.landings.flatMap(({ files: own }) => own);
  return `${deed}: ${count(files.length, "file")}${landedText(outcome.landings)}.`;
}

interface Landing {
  readonly branch: string | null;
  readonly commit: string | null;
  readonly files: readonly string[];
}

export function statusText(status: OutputOf<"plan.status">, spell: Spell): string {
  const { planId, description, phase, state, undoneAt, awaitingInput, cost, error, nextSteps } = status;
  const limit = cost.capUsd === null ? "" : ` of $${cost.capUsd.toFixed(2)}`;
  return [
    `**${description.split("\n", 1)[0] ?? ""}**`,
    `plan ${planId}: ${phase}/${state}${undoneAt === null ? "" : ", undone"}`,
    `${count(cost.calls, "model call")}, $${(cost.spentUsd + cost.assumedUsd).toFixed(4)}${limit}`,
    ...(awaitingInput === null ? [] : [`It asks: ${questionText(awaitingInput)}`]),
    ...(error === null ? [] : [`It stopped: ${error.message}`]),
    ...nextSteps.map((step) => `next: \`${spell(step)}\``),
  ].join("\n\n");
}

export function questionText(open: { readonly question: string; readonly alternatives: readonly string[] }): string {
  const ways = open.alternatives.map((one, index) => `\n${index + 1}. ${one}`).join("");
  return `${open.question}${ways}`;
}

export function plansText({ plans }: OutputOf<"plan.list">): string {
  if (plans.length === 0) return "There is no plan yet.";
  const rows = plans.map(
    ({ shortId, name, phase, state, awaitingInput }) =>
      `| ${shortId} | ${cell(name)} | ${phase}/${state}${awaitingInput === null ? "" : ", asks you"} |`,
  );
  return ["| plan | request | state |", "|---|---|---|", ...rows].join("\n");
}

function cell(text: string): string {
  return (text.split("\n", 1)[0] ?? "").replaceAll("|", "\\|").slice(0, 100);
}

export function checkpointsText(output: Extract<OutputOf<"plan.rollback">, { checkpoints: unknown }>): string {
  if (output.checkpoints.length === 0) return "The plan has no checkpoint yet.";
  const lines = output.checkpoints.map(
    ({ id, afterStep, files }) => `- \`/rollback ${id}\`: ${afterStep ?? "before all steps"} (${files.length} files)`,
  );
  return lines.join("\n");
}

/** The three sentences of an error: the problem, the things that were kept, the next step. */
export function errorText({ message, kept, next }: AgentsError, spell: Spell): string {
  return [
    `**Error:** ${message}`,
    ...(kept === undefined ? [] : [kept]),
    ...next.map((step) => `next: \`${spell(step)}\``),
  ].join("\n\n");
}

export function count(quantity: number, noun: string): string {
  return `${quantity} ${noun}${quantity === 1 ? "" : "s"}`;
}
