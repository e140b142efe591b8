import { join } from "node:path";
import { diskUsage } from "../../execution/disk-usage.ts";
import { plansInPlace } from "../../execution/sandbox-record.ts";
import { listSandboxes, removeUnneeded, type KeptSandbox } from "../../execution/kept-sandboxes.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { confirmed } from "../confirm.ts";
import { bytes, count } from "../format.ts";
import { info, type Outcome } from "../outcome.ts";
import { toned } from "../view.ts";

export async function cleanupList(context: CommandContext): Promise<Outcome> {
  const store = await context.store();
  const kept = await listSandboxes(store, directoryOf(context));
  const removable = kept.filter((sandbox) => sandbox.removable).length;
  const sizes = await diskUsage(kept.map(placeOf));
  const inPlace = await store.read(plansInPlace);
  return {
    data: {
      sandboxes: kept.map((sandbox) => ({ ...data(sandbox), bytes: sizes.get(placeOf(sandbox)) ?? null })),
      in_place: inPlace.map(({ planId, attempt, alias, path }) => ({
        plan_id: planId,
        attempt,
        resource: alias,
        path,
      })),
      summary: { total: kept.length, removable },
    },
    view: [
      {
        kind: "table",
        title: "Sandboxes",
        columns: [{ keep: "Plan" }, "Attempt", "Resource", "Size", "Removable", "Why"],
        rows: kept.map((sandbox) => [
          sandbox.planId,
          String(sandbox.attempt),
          sandbox.leftOver ? `${sandbox.alias} (half)` : sandbox.alias,
          sizeText(sizes.get(placeOf(sandbox))),
          sandbox.removable ? toned("yes", "warn") : "no",
          sandbox.why,
        ]),
        empty: "No sandboxes.",
      },
      {
        kind: "table",
        title: "In place, without a sandbox",
        columns: [{ keep: "Plan" }, "Attempt", "Resource", "Path"],
        rows: inPlace.map(({ planId, attempt, alias, path }) => [planId, String(attempt), alias, path]),
        empty: "",
      },
    ],
    messages: info(
      `${count(kept.length, "sandbox", "sandboxes")}, ${removable} removable${inPlace.length === 0 ? "" : `; without one, in place: ${count(inPlace.length, "resource")}`}.`,
    ),
    ...(removable === 0 ? {} : { next: ["agents cleanup run"] }),
  };
}

function sizeText(size: number | undefined): string {
  return size === undefined ? "-" : bytes(size);
}

export async function cleanupRun(context: CommandContext, input: Input): Promise<Outcome> {
  const directory = directoryOf(context);
  const doomed = (await listSandboxes(await context.store(), directory)).filter((sandbox) => sandbox.removable);
  const question = `Remove ${count(doomed.length, "sandbox", "sandboxes")}? What was changed in them stays recorded.`;
  if (doomed.length > 0 && !(await confirmed(question, input.flag("yes")))) {
    return {
      data: { removed: [] },
      view: [],
      messages: [{ level: "warning", text: "Nothing was removed." }],
      status: "warn",
    };
  }
  const removed = await removeUnneeded(await context.store(), directory);
  return {
    data: { removed: removed.map(data) },
    view: [],
    messages: info(`${count(removed.length, "sandbox", "sandboxes")} removed.`),
  };
}

function directoryOf(context: CommandContext): string {
  return join(context.paths.dataDir, "sandboxes");
}

/** Where its bytes are: a half-made one has another name. */
function placeOf({ home, leftOver }: KeptSandbox): string {
  return leftOver ? `${home}.tmp` : home;
}

function data(sandbox: KeptSandbox): Record<string, unknown> {
  const { planId, attempt, alias, path = null, home, leftOver, removable, why } = sandbox;
  return { plan_id: planId, attempt, resource: alias, path, sandbox: home, left_over: leftOver, removable, why };
}
