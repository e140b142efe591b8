/** The resources of a plan as its sandboxes are made from them. */
import { ValidationError, type ValidationIssue } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { SandboxTarget } from "../execution/sandbox/sandbox.ts";
import { planResources } from "../plans/in-place-rules.ts";
import type { Store } from "../store/port.ts";

export async function planTargets(
  store: Store,
  plan: Plan,
  { includeDirty = false }: { readonly includeDirty?: boolean },
): Promise<SandboxTarget[]> {
  const links = await store.read((reader) => planResources(reader, plan));
  const issues: ValidationIssue[] = [];
  for (const [index, { alias, project }] of links.entries()) {
    const other = links.slice(0, index).find((link) => link.alias.toLowerCase() === alias.toLowerCase());
    if (other === undefined) continue;
    issues.push({ path: alias, message: `"${alias}" is a resource of ${other.project} and of ${project}` });
  }
  if (issues.length > 0) {
    throw new ValidationError(`The plan's projects use one alias twice: ${issues[0]?.message}.`, issues, {
      next: [nextStep("project.link-resource", { project: "<project>", resource: "<resource>", alias: "<another>" })],
    });
  }
  return links.map(({ alias, type, sandbox, path, branch, readOnly, planReadOnly }) => ({
    alias,
    strategy: sandbox,
    path,
    branch,
    versioned: type === "git-checkout",
    readOnly: readOnly || planReadOnly,
    includeDirty,
  }));
}
