import { join } from "node:path";
import type { PlanId } from "../domain/ids.ts";
import type { Plan } from "../domain/plan.ts";
import type { Sandbox } from "../execution/sandbox.ts";
import { PlanExecutor } from "../plans/plan-executor.ts";
import type { Assessment } from "../domain/confidence.ts";
import { budgetWarning, readSpending } from "./commands/budget-data.ts";
import type { CommandContext } from "./command-context.ts";
import { interruptible } from "./interrupt.ts";
import { liveView, type CheckEvent, type LiveView } from "./live-view.ts";
import { screenFor } from "./render.ts";

/** Carries out a plan in the foreground, while whoever sits there watches; Ctrl-C stops cleanly, a second one at once. */
export interface WatchedExecution {
  readonly plan: Plan;
  /** False when the plan had been executed before. */
  readonly ran: boolean;
  /** Why it stopped before it began: a person is to look at the strategy first. */
  readonly stopped: Assessment | undefined;
  readonly steps: readonly WatchedStep[];
  readonly sandboxes: readonly Sandbox[];
  /** Files that were replaced in place while some program was still writing into them. */
  readonly kept: readonly string[];
}

interface WatchedStep {
  readonly id: string;
  /** Null for one that a model carries out, by tools of its choice. */
  readonly tool: string | null;
  readonly status: string;
  readonly duration_ms: number;
}

export async function executeWatched(
  context: CommandContext,
  planId: PlanId,
  options: { readonly includeDirty: boolean; readonly verify: boolean },
): Promise<WatchedExecution> {
  await context.commandPolicy();
  const view = await viewFor(context, planId);
  const executor = new PlanExecutor({
    store: await context.store(),
    service: await context.plans(),
    directory: join(context.paths.dataDir, "sandboxes"),
    context: await context.planContext(),
    models: (lease) => context.budgetedModels(lease, (warning) => view.say(budgetWarning(warning).text)),
  });
  const steps: WatchedStep[] = [];
  const sandboxes: Sandbox[] = [];
  const kept: string[] = [];
  const { signal, stop } = interruptible(view.say);
  try {
    const { plan, ran, stopped } = await executor.execute(planId, {
      ...options,
      signal,
      onStep: (step, event, { durationMs }) => {
        if (event !== "started")
          steps.push({ id: step.id, tool: step.tool ?? null, status: event, duration_ms: Math.round(durationMs) });
      },
      onEvent: view.on,
      onHook: ({ resource, hook }, event, { durationMs }) => view.on(check(hook, resource, event, durationMs)),
      onValidationStart: ({ validation, resource }) => view.on(check(validation.name, resource, "started", 0)),
      onValidation: ({ validation, resource, passed, durationMs }) =>
        view.on(check(validation, resource, passed ? "passed" : "failed", durationMs)),
      onSandbox: (sandbox) => void sandboxes.push(sandbox),
      onKept: (files) => void kept.push(...files),
    });
    return { plan, ran, stopped, steps, sandboxes, kept };
  } finally {
    view.end();
    stop();
  }
}

function check(name: string, resource: string, event: CheckEvent["event"], durationMs: number): CheckEvent {
  return { type: "check", name, resource, event, durationMs };
}

const SILENT: LiveView = { on: () => undefined, say: () => undefined, end: () => undefined };

/** Nothing where a machine reads. */
async function viewFor(context: CommandContext, planId: PlanId): Promise<LiveView> {
  const format = await context.format();
  if (format === "json" || format === "yaml") return SILENT;
  const { stderr, env: environment } = process;
  const screen = screenFor(format, { isTTY: stderr.isTTY, columns: stderr.columns, environment });
  const { plan: spending } = await readSpending(context, planId);
  const cost = { cap: spending.cap?.amount, spent: spending.spent + spending.assumed };
  return liveView({ stream: stderr, screen, terminal: stderr.isTTY && environment["TERM"] !== "dumb", ...cost });
}
