import { existsSync } from "node:fs";
import type { CommandContext } from "../command-context.ts";
import { count } from "../format.ts";
import type { Outcome } from "../outcome.ts";
import { RUN_ACTION } from "../../plans/run-setup.ts";
import { VERSION } from "./version.ts";

const RUN = 'agents run "<what should become true>"';

/** `agents` alone: where things stand and what to do next, not a wall of help. */
export async function overview(context: CommandContext): Promise<Outcome> {
  if (!existsSync(context.paths.database)) {
    const next = [RUN, "agents init", "agents --help"];
    return {
      data: { initialised: false, next_steps: next },
      view: [{ kind: "lines", title: `CleverAgents ${VERSION}`, lines: ["Nothing is set up here yet."] }],
      messages: [],
      next,
    };
  }
  const plans = await context.plans();
  const actions = await plans.listActions({ state: "available" });
  const projects = await (await context.projects()).listProjects();
  const { counts } = await plans.listPlans({ limit: 1 });
  const of = (state: Parameters<typeof counts.get>[0]): number => counts.get(state) ?? 0;
  const stopped = of("errored") + of("constrained");
  const active = of("queued") + of("processing") + of("complete");
  const next = nextSteps({ actions, projects, stopped, active });
  return {
    data: {
      initialised: true,
      actions: actions.length,
      projects: projects.length,
      plans: { active, stopped, applied: of("applied"), cancelled: of("cancelled") },
      next_steps: next,
    },
    view: [
      {
        kind: "fields",
        title: `CleverAgents ${VERSION}`,
        rows: [
          ["actions", String(actions.length)],
          ["projects", String(projects.length)],
          [
            "plans",
            `${count(active, "active plan")}, ${stopped} stopped, ${of("applied")} applied, ${of("cancelled")} cancelled`,
          ],
        ],
      },
    ],
    messages: [],
    next,
  };
}

function nextSteps(known: {
  actions: readonly { name: string }[];
  projects: readonly { name: string }[];
  stopped: number;
  active: number;
}): string[] {
  // Requests are what `agents run` is for.
  const action = known.actions.find(({ name }) => name !== RUN_ACTION)?.name;
  const project = known.projects[0]?.name;
  const steps: string[] = [];
  if (known.stopped > 0) steps.push("agents plan list --state errored");
  steps.push(RUN);
  if (action === undefined) steps.push("agents action create --config <file>");
  if (project === undefined) steps.push("agents project create <name>");
  if (action !== undefined && project !== undefined) steps.push(`agents plan use ${action} ${project}`);
  if (known.active > 0) steps.push("agents plan list");
  return [...steps, "agents --help"];
}
