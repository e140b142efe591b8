/**
 * The message of a landing's commit: the plan's description (for an apply, as the repository's own hook left it), and
 * trailers by which a commit is traced to the plan, changesets and decisions that made it.
 */
import { commitMessage } from "../changes/commit-message.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { JournalKind } from "../ledger/journal.ts";

export function landingMessage(
  kind: JournalKind,
  plan: Plan,
  facts: { readonly changesets: readonly string[]; readonly decisions: readonly string[]; readonly message: string },
): string {
  const described = { id: plan.id, description: `${VERBS[kind]}${plan.description.trimStart()}` };
  const text = (kind === "apply" ? facts.message : commitMessage(described)).trimEnd();
  const named = `CleverAgents-Plan: ${plan.id}`;
  const trailers = [
    ...(kind === "apply" ? [] : [`CleverAgents-Kind: ${kind}`]),
    ...facts.changesets.map((id) => `CleverAgents-Changeset: ${id}`),
    ...facts.decisions.map((id) => `CleverAgents-Decision: ${id}`),
  ];
  // A hook may have removed our trailer; a hook that appended its own left the block of trailers as it is.
  const isThere = text.split("\n\n").at(-1)?.split("\n").includes(named) === true;
  const [head, tail] = isThere ? [text, trailers] : [`${text}\n`, [named, ...trailers]];
  return `${[head, ...tail].join("\n")}\n`;
}

const VERBS = { apply: "", undo: "Undo: ", redo: "Redo: " } as const satisfies Record<JournalKind, string>;
