/** The owner of the table `context_policies`: one row for each setting of a project's view. */
import {
  CONTEXT_VIEWS,
  POLICY_SETTINGS,
  type ContextPolicy,
  type ContextView,
  type PolicySetting,
  type ViewPolicy,
} from "../../domain/context/context-policy.ts";
import { nameKey, type QualifiedName } from "../../domain/names/qualified-name.ts";
import type { Reader, Tx } from "../port.ts";

/**
 * A row for each setting that a view has itself, as JSON: a limit that was lifted is null, one that is inherited has no
 * row.
 */
export async function findContextPolicy(reader: Reader, project: QualifiedName): Promise<ContextPolicy> {
  const rows = await reader.all<{ view: string; setting: string; value: string }>(
    "SELECT view, setting, value FROM context_policies WHERE project_key = ? ORDER BY view, setting",
    nameKey(project),
  );
  const policy: Partial<Record<ContextView, ViewPolicy>> = {};
  for (const row of rows) {
    const view = CONTEXT_VIEWS.find((candidate) => candidate === row.view);
    const setting = POLICY_SETTINGS.find((candidate) => candidate === row.setting);
    if (view === undefined || setting === undefined) continue;
    policy[view] = { ...policy[view], [setting]: JSON.parse(row.value) as ViewPolicy[PolicySetting] };
  }
  return policy;
}

/** Makes the view set exactly this. */
export async function replaceContextView(
  tx: Tx,
  project: QualifiedName,
  view: ContextView,
  settings: ViewPolicy,
): Promise<void> {
  await tx.run("DELETE FROM context_policies WHERE project_key = ? AND view = ?", nameKey(project), view);
  for (const setting of POLICY_SETTINGS) {
    const value = settings[setting];
    if (value === undefined) continue;
    await tx.run(
      "INSERT INTO context_policies (project_key, view, setting, value) VALUES (?, ?, ?, ?)",
      nameKey(project),
      view,
      setting,
      JSON.stringify(value),
    );
  }
}

export async function deleteContextPolicy(tx: Tx, project: QualifiedName): Promise<void> {
  await tx.run("DELETE FROM context_policies WHERE project_key = ?", nameKey(project));
}
