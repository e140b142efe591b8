import { resolve } from "node:path";
import { RESOURCE_TYPE_NAMES, RESOURCE_TYPES } from "../../domain/resource.ts";
import type { ListedResource } from "../../plans/resource-service.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { confirmed, declined } from "../confirm.ts";
import { count, instant, orDash } from "../format.ts";
import { info, type Outcome } from "../outcome.ts";
import type { View } from "../view.ts";

export async function resourceAdd(context: CommandContext, input: Input): Promise<Outcome> {
  const resource = await (
    await context.resources()
  ).addResource({
    type: input.argument(0),
    name: input.argument(1),
    description: input.text("description"),
    arguments: typeArguments(input),
  });
  return {
    data: { resource: resourceData(resource) },
    view: resourceView(resource),
    messages: info(`Resource ${resource.name} added.`),
    next: [`agents project link-resource <project> ${resource.name}`],
  };
}

/** What was given of all types' flags; a path is meant from where the user stands. */
function typeArguments(input: Input): Record<string, string | undefined> {
  const given: Record<string, string | undefined> = {};
  for (const { name, type } of RESOURCE_TYPES.flatMap((one) => [...one.arguments])) {
    const value = input.text(name);
    // An empty path would mean the working directory: left as it is, it is refused.
    given[name] = type === "path" && value !== undefined && value !== "" ? resolve(value) : value;
  }
  return given;
}

export async function resourceList(context: CommandContext, input: Input): Promise<Outcome> {
  const filter = { type: input.text("type"), namespace: input.text("namespace") };
  const resources = await (await context.resources()).listResources(filter);
  const ofType = (type: string): number => resources.filter((resource) => resource.type === type).length;
  return {
    data: {
      resources: resources.map(resourceData),
      filters: { type: filter.type ?? null, namespace: filter.namespace ?? null },
      summary: {
        total: resources.length,
        by_type: Object.fromEntries(RESOURCE_TYPE_NAMES.map((type) => [type, ofType(type)])),
      },
    },
    view: [
      {
        kind: "table",
        title: "Resources",
        columns: [{ keep: "Name" }, "Type", "Projects", "Branch", "Path"],
        rows: resources.map((resource) => [
          resource.name,
          resource.type,
          String(resource.projects.length),
          orDash(resource.branch),
          resource.path,
        ]),
        empty: filter.type === undefined && filter.namespace === undefined ? "No resources yet." : "No resource fits.",
      },
    ],
    messages: info(`${count(resources.length, "resource")} listed.`),
    ...(resources.length === 0 ? { next: ["agents resource add <type> <name> --path <path>"] } : {}),
  };
}

export async function resourceShow(context: CommandContext, input: Input): Promise<Outcome> {
  const resource = await (await context.resources()).getResource(input.argument(0));
  return { data: { resource: resourceData(resource) }, view: resourceView(resource), messages: [] };
}

export async function resourceRemove(context: CommandContext, input: Input): Promise<Outcome> {
  const resources = await context.resources();
  const { name, path } = await resources.getResource(input.argument(0));
  if (!(await confirmed(`Forget the resource ${name}?`, input.flag("yes")))) return declined("removed");
  await resources.removeResource(name);
  return {
    data: { removed: true, resource: name },
    view: [],
    messages: info(`Resource ${name} removed; ${path} was not touched.`),
  };
}

function resourceData(resource: ListedResource): Record<string, unknown> {
  return {
    name: resource.name,
    type: resource.type,
    description: resource.description ?? null,
    path: resource.path,
    branch: resource.branch ?? null,
    sandbox: { strategy: resource.sandbox },
    projects: resource.projects.map(({ project, alias, readOnly }) => ({ name: project, alias, read_only: readOnly })),
    version: resource.version,
    created_at: instant(resource.createdAt),
    updated_at: instant(resource.updatedAt),
  };
}

function resourceView(resource: ListedResource): View {
  return [
    {
      kind: "fields",
      title: resource.name,
      rows: [
        ["type", resource.type],
        ["description", orDash(resource.description)],
        ["path", resource.path],
        ["branch", orDash(resource.branch)],
        ["sandbox", resource.sandbox === "none" ? "none: plans work in place" : resource.sandbox],
        ["added", instant(resource.createdAt)],
      ],
    },
    {
      kind: "table",
      title: "Projects",
      columns: [{ keep: "Project" }, { keep: "Alias" }, "Access"],
      rows: resource.projects.map(({ project, alias, readOnly }) => [
        project,
        alias,
        readOnly ? "read-only" : "read-write",
      ]),
      empty: "",
    },
  ];
}
