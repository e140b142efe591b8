import type { ListedProject } from "../../plans/project-service.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { confirmed, declined } from "../confirm.ts";
import { count, instant, orDash } from "../format.ts";
import { info, type Outcome } from "../outcome.ts";
import { linkData, resourcesTable } from "./project-resources.ts";

export async function projectCreate(context: CommandContext, input: Input): Promise<Outcome> {
  const project = await (
    await context.projects()
  ).createProject({
    name: input.argument(0),
    description: input.text("description"),
    resources: input.texts("resource"),
  });
  const linked = project.resources.length === 0 ? "" : ` with ${count(project.resources.length, "resource")}`;
  return {
    data: { project: projectData(project) },
    view: [],
    messages: info(`Project ${project.name} created${linked}.`),
    next: [`agents plan use <action> ${project.name}`],
  };
}

export async function projectList(context: CommandContext, input: Input): Promise<Outcome> {
  const namespace = input.text("namespace");
  const projects = await (await context.projects()).listProjects(namespace);
  return {
    data: {
      projects: projects.map(projectData),
      filters: { namespace: namespace ?? null },
      summary: { total: projects.length },
    },
    view: [
      {
        kind: "table",
        title: "Projects",
        columns: [{ keep: "Name" }, "Plans", "Active", "Resources", "Description"],
        rows: projects.map((project) => [
          project.name,
          String(project.plans),
          String(project.activePlans),
          String(project.resources.length),
          orDash(project.description),
        ]),
        empty: "No projects yet.",
      },
    ],
    messages: info(`${count(projects.length, "project")} listed.`),
    ...(projects.length === 0 ? { next: ["agents project create <name>"] } : {}),
  };
}

export async function projectShow(context: CommandContext, input: Input): Promise<Outcome> {
  const project = await (await context.projects()).getProject(input.argument(0));
  return {
    data: { project: projectData(project) },
    view: [
      {
        kind: "fields",
        title: project.name,
        rows: [
          ["description", orDash(project.description)],
          ["plans", `${project.plans} (${project.activePlans} active)`],
          ["created", instant(project.createdAt)],
        ],
      },
      resourcesTable(project.resources),
    ],
    messages: [],
  };
}

export async function projectDelete(context: CommandContext, input: Input): Promise<Outcome> {
  const projects = await context.projects();
  const project = await projects.getProject(input.argument(0));
  const force = input.flag("force");
  const doomed = force && project.activePlans > 0 ? ` and cancel ${count(project.activePlans, "active plan")}` : "";
  if (!(await confirmed(`Delete the project ${project.name}${doomed}?`, input.flag("yes")))) return declined("deleted");
  const { cancelled, unlinked } = await projects.deleteProject(project.name, { force });
  return {
    data: {
      deleted: true,
      deletion_summary: {
        project: project.name,
        plans_cancelled: cancelled,
        resources_unlinked: unlinked.length,
      },
    },
    view: [],
    messages: info(
      [
        `Project ${project.name} deleted`,
        ...(cancelled.length === 0 ? [] : [`${count(cancelled.length, "plan")} cancelled`]),
        ...(unlinked.length === 0 ? [] : [`${count(unlinked.length, "resource")} unlinked`]),
      ].join("; ") + ".",
    ),
  };
}

function projectData(project: ListedProject): Record<string, unknown> {
  return {
    name: project.name,
    description: project.description ?? null,
    plans: project.plans,
    active_plans: project.activePlans,
    resources: project.resources.map(linkData),
    version: project.version,
    created_at: instant(project.createdAt),
    updated_at: instant(project.updatedAt),
  };
}
