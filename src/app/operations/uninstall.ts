/**
 * Removes what CleverAgents keeps, and only that: in the data directory, the files that it makes there by name. The
 * unapplied changes of a plan exist nowhere else, so the plan is named, and without a person to ask it needs a word of
 * its own. A plan that a process works on is in the way.
 */
import { existsSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { ConflictError, UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { Standing } from "../../domain/plan/standing.ts";
import { DataDirectory } from "../../platform/data-directory.ts";
import type { App } from "../base/app.ts";
import { confirmed, type Call } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps } from "../base/schemas.ts";

const PlanLeft = z.strictObject({ planId: z.string(), number: z.int(), request: z.string(), standing: z.string() });
type PlanLeft = z.output<typeof PlanLeft>;

export const operation = defineOperation({
  input: z.strictObject({
    /** Where no one is asked: also when plans have changes that were not applied. */
    discard: z.boolean().default(false),
  }),
  output: z.strictObject({
    removed: z.array(z.string()),
    /** Files in our directories that are not ours. */
    left: z.array(z.string()),
    unapplied: z.array(PlanLeft),
    declined: z.boolean(),
    nextSteps: NextSteps,
  }),
  run: async (app, { discard }, call) => {
    const isShared = (await app.sharedStore()) !== undefined;
    const ours = ourPaths(app, isShared);
    const plans = !isShared && existsSync(app.paths.database) ? await plansLeft(app, call) : [];
    if (plans.length > 0 && call.answers !== "person" && !discard) throw unappliedError(plans);
    const nextSteps = [{ text: "npm uninstall -g cleveragents" }];
    const nothing = { removed: [], left: [], unapplied: plans, nextSteps };
    if (ours.length > 0 && !(await confirmed(call, questionOf(app, ours, plans))))
      return { ...nothing, declined: true };
    // The refs that plans keep in the user's repositories, as far as their plans have ended.
    if (isShared || existsSync(app.paths.database)) {
      const { operation: cleanup } = await import("./cleanup-run.ts");
      await cleanup.run(app, {}, { ...call, ask: async () => ({ kind: "yes" }), answers: "program" });
    }
    // To look at it, the database made files of its own beside it.
    const all = ourPaths(app, isShared);
    for (const path of all) rmSync(path, { recursive: true, force: true });
    const directories = [...new Set([app.paths.dataDir, dirname(app.paths.config)])].filter((one) => existsSync(one));
    const left = directories.flatMap((directory) => readdirSync(directory).map((name) => join(directory, name)));
    for (const directory of directories) if (readdirSync(directory).length === 0) rmdirSync(directory);
    return { removed: all, left, unapplied: plans, declined: false, nextSteps };
  },
});

/**
 * The paths that CleverAgents makes, as far as they are there. A directory without a database may not be ours, unless
 * the database is a shared one, which is left as it is.
 */
function ourPaths(app: App, isShared: boolean): string[] {
  const { dataDir, config, database } = app.paths;
  if (existsSync(join(dataDir, ".git"))) throw sharedError(dataDir);
  if (!existsSync(database) && !isShared) return existsSync(config) ? [config] : [];
  const data = new DataDirectory(dataDir);
  const named = [
    data.database,
    data.sandboxes,
    data.locks,
    data.index,
    data.models,
    data.credentials,
    data.mcp,
    data.trust,
  ];
  const files = [...named, config].flatMap((path) =>
    ["", "-wal", "-shm", ".contents", ".lock"].map((end) => path + end),
  );
  return [...new Set(files)].filter((path) => existsSync(path));
}

function sharedError(directory: string): UsageError {
  return new UsageError(`${directory} is a repository too, so nothing in it is removed.`, {
    kept: "Nothing was removed.",
    next: [{ text: `look at ${directory}` }],
  });
}

const UNAPPLIED: ReadonlySet<Standing> = new Set(["waiting for you", "stopped", "ready to review"]);

/** Plans whose changes are in no resource; one that is being worked on ends the removal. */
async function plansLeft(app: App, call: Call): Promise<PlanLeft[]> {
  const { operation: list } = await import("./plan-list.ts");
  const { plans } = await list.run(app, { limit: 100_000, here: false }, call);
  const working = plans.find(({ standing }) => standing === "working");
  if (working !== undefined) {
    throw new ConflictError(
      `A process works on plan ${working.number} (${working.request}).`,
      { expected: "no plan that is being worked on", actual: working.planId },
      { kept: "Nothing was removed.", next: [nextStep("plan.status", { plan: working.planId })] },
    );
  }
  return plans
    .filter(({ standing, changedFiles }) => UNAPPLIED.has(standing) && changedFiles > 0)
    .map(({ planId, number, request, standing }) => ({ planId, number, request, standing }));
}

function named(plans: readonly PlanLeft[]): string {
  const some = plans.slice(0, 5).map(({ number, request }) => `plan ${number} (${request})`);
  return `${some.join(", ")}${plans.length > 5 ? ` and ${plans.length - 5} more` : ""}`;
}

function questionOf(app: App, ours: readonly string[], plans: readonly PlanLeft[]): string {
  const lost = plans.length === 0 ? "" : ` The changes of ${named(plans)} were never applied and will be lost.`;
  const config = ours.includes(app.paths.config) ? ` and ${app.paths.config}` : "";
  return `${lost.trimStart()}${lost === "" ? "" : " "}Remove all plans, settings and keys in ${app.paths.dataDir}${config}?`;
}

function unappliedError(plans: readonly PlanLeft[]): UsageError {
  return new UsageError(`The changes of ${named(plans)} were never applied, and would be lost.`, {
    kept: "Nothing was removed.",
    next: [
      nextStep("plan.apply", { plan: plans[0]?.planId ?? "" }),
      nextStep("uninstall", { discard: true, yes: true }),
    ],
    detail: { plans: plans.map(({ planId }) => planId) },
  });
}
