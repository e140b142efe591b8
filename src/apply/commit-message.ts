import type { Plan } from "../domain/plan.ts";
import type { JournalKind } from "./journal.ts";

const SUBJECT_LIMIT = 72;

/** The message of a landing's commit: what the plan does, and trailers by which a commit is traced to what made it. */
export function landingMessage(
  kind: JournalKind,
  plan: Plan,
  facts: { readonly changesets: readonly string[]; readonly decisions: readonly string[]; readonly message?: string },
): string {
  const verb = kind === "apply" ? "" : kind === "undo" ? "Undo: " : "Redo: ";
  const text = facts.message ?? `${subject(verb + firstLine(plan.description))}\n`;
  const trailers = [
    `CleverAgents-Plan: ${plan.id}`,
    ...(kind === "apply" ? [] : [`CleverAgents-Kind: ${kind}`]),
    ...facts.changesets.map((id) => `CleverAgents-Changeset: ${id}`),
    ...facts.decisions.map((id) => `CleverAgents-Decision: ${id}`),
  ];
  return `${text.trimEnd()}\n\n${trailers.join("\n")}\n`;
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0] ?? "";
}

function subject(line: string): string {
  return line.length <= SUBJECT_LIMIT ? line : `${line.slice(0, SUBJECT_LIMIT - 1)}…`;
}
