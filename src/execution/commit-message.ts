import type { Plan } from "../domain/plan.ts";
import type { Store } from "../store/store.ts";

/** The message of the commit a plan becomes. */
const SUBJECT_LIMIT = 72;

/** What we propose: the plan's purpose in one line, and which plan it was. */
export function commitMessage(plan: Pick<Plan, "id" | "description">): string {
  const [line = ""] = plan.description.trim().split(/[\r\n]/, 1);
  const characters = Array.from(new Intl.Segmenter("en").segment(line.trim()), ({ segment }) => segment);
  const fits = characters.length <= SUBJECT_LIMIT;
  const kept = characters.slice(0, fits ? SUBJECT_LIMIT : SUBJECT_LIMIT - 1).join("");
  return `${kept.trimEnd()}${fits ? "" : "…"}\n\nCleverAgents-Plan: ${plan.id}\n`;
}

/** The message to use for the resource: what its `commit-msg` hook made of ours, or ours where no such hook ran. */
export async function recordedCommitMessage(
  store: Store,
  plan: Pick<Plan, "id" | "description" | "attempt">,
  alias: string,
): Promise<string> {
  const row = await store.read((reader) =>
    reader.get<{ result: string | null }>(
      "SELECT result FROM steps WHERE plan_id = ? AND phase = 'execute' AND attempt = ? AND key = ?",
      plan.id,
      plan.attempt,
      `hook:${alias}:commit-msg`,
    ),
  );
  const { message } = JSON.parse(row?.result ?? "{}") as { message?: string };
  return message ?? commitMessage(plan);
}
