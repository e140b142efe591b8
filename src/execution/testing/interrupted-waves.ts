/**
 * Run by a test in a process of its own, and killed by it at some moment: executes a plan's steps. Arguments: the
 * store's url, the plan, where sandboxes are kept, the user's checkout.
 */
import { openStore } from "../../store/sqlite/open-store.ts";
import { PlanLifecycleService } from "../../plans/plan-lifecycle-service.ts";
import type { PlanId } from "../../domain/names/ids.ts";
import { runToolSteps } from "../steps/step-runner.ts";
import { decided, type PlannedStep } from "./decide.ts";

/** Writes beside each other, then a command that adds to what an earlier one left: run twice it would show. */
export const WAVES: readonly (readonly PlannedStep[])[] = Array.from({ length: 8 }, (_, wave) => [
  ...Array.from({ length: 4 }, (_, index) => ({
    id: `write-${wave}-${index}`,
    tool: "write_file",
    params: { path: `out/${wave}/${index}.txt`, content: `${wave} ${index}\n`.repeat(50) },
  })),
  {
    id: `shell-${wave}`,
    tool: "shell_execute",
    params: {
      command: `mkdir shell-${wave}; echo 1 > shell-${wave}/1; echo ${wave} >> a.txt; sleep 0.02; echo 2 > shell-${wave}/2`,
    },
  },
]);

if (import.meta.main) {
  const [url = "", planId = "", directory = "", path = ""] = process.argv.slice(2);
  await using store = await openStore(url);
  await using lease = await new PlanLifecycleService({ store }).startExecute(planId as PlanId, { ttlMs: 60_000 });
  await runToolSteps({
    lease,
    directory,
    targets: [{ alias: "api", strategy: "git_worktree", path, branch: undefined, readOnly: false }],
    waves: await decided(lease, WAVES),
    signal: new AbortController().signal,
    tell: (event) => {
      if ("step" in event) process.stdout.write(`${event.step} ${event.type.replace("step_", "")}\n`);
    },
  });
}
