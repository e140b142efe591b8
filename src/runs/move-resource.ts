/**
 * A resource that was moved on the disk is told where it is now. The records of its past plans go with it, so that
 * their changes can still be undone. A plan that is not at its end has a sandbox that borrows from the old place, and
 * is in the way.
 */
import { onDisk } from "../catalog/resource-service.ts";
import { requireResource } from "../catalog/project-links.ts";
import { withResourceLocks, lockPlace } from "../apply/resource-locks.ts";
import { ConflictError, ValidationError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { PlanId } from "../domain/names/ids.ts";
import type { Resource } from "../domain/resource/resource.ts";
import { shown } from "../domain/text/text.ts";
import { commitAt } from "../git/checkout.ts";
import { basesOf, moveSandboxRecords } from "../ledger/sandbox-records.ts";
import { recordEvent, recordSourceOf, type ServiceParts } from "../plans/transition.ts";
import type { Reader } from "../store/port.ts";
import { activePlanIds } from "../store/tables/plans.ts";
import { findLinks, moveResource } from "../store/tables/resources.ts";

const PATIENCE_MS = 2_000;

/** The place it was at before. */
export async function relocateResource(
  parts: ServiceParts,
  locks: string,
  wish: { readonly resource: string; readonly path: string },
): Promise<string> {
  const { store } = parts;
  const before = await store.read((reader) => requireResource(reader, wish.resource));
  const { type, branch } = before;
  const { path } = await onDisk({ type, branch, path: wish.path });
  if (path === before.path) return path;
  await requireSameRepository(parts, before, path);
  const places = await Promise.all([before.path, path].map(lockPlace));
  const move = (): Promise<void> =>
    store.transaction(async (tx) => {
      const found = await requireResource(tx, before.name);
      if (found.version !== before.version) throw changedError(found);
      await requireNoPlans(tx, found);
      const source = recordSourceOf(parts);
      const at = source.clock();
      await moveResource(tx, found.name, path, at);
      await moveSandboxRecords(tx, found.name, { from: found.path, to: path });
      const details = { resource: found.name, from: found.path, to: path };
      await recordEvent(tx, source, { type: "resource.moved", at, details });
    });
  await withResourceLocks(locks, places, move, { patienceMs: PATIENCE_MS });
  return before.path;
}

/** The commits that past plans began with must be there, or nothing of them could be undone. */
async function requireSameRepository(
  { store }: ServiceParts,
  { name, path: from }: Resource,
  path: string,
): Promise<void> {
  const [base] = await store.read((reader) => basesOf(reader, from));
  if (base === undefined || (await commitAt(path, base)) !== undefined) return;
  const message = `${shown(path, 200)} is another repository: the commit ${base.slice(0, 12)}, which a plan began with, is not there`;
  throw new ValidationError(`The resource ${name} cannot be moved: ${message}.`, [{ path: "path", message }], {
    next: [nextStep("resource.add", { type: "git-checkout", resource: "<name>", path })],
  });
}

async function requireNoPlans(reader: Reader, { name }: Resource): Promise<void> {
  const active = new Set<PlanId>();
  for (const { project } of await findLinks(reader, { resource: name }))
    for (const id of await activePlanIds(reader, project)) active.add(id);
  if (active.size === 0) return;
  const which = active.size === 1 ? "a plan is" : `${active.size} plans are`;
  throw new ConflictError(
    `The resource ${name} cannot be moved while ${which} not finished.`,
    { expected: "no active plan of its projects", actual: { active_plans: [...active].slice(0, 20) } },
    {
      kept: "Nothing was changed.",
      next: [...active].slice(0, 5).map((plan) => nextStep("plan.cancel", { plan })),
    },
  );
}

function changedError({ name }: Resource): ConflictError {
  return new ConflictError(
    `Another process changed the resource ${name} meanwhile.`,
    { expected: "the resource as it was", actual: "another version" },
    { kept: "Nothing was changed.", next: [nextStep("resource.show", { resource: name })] },
  );
}
