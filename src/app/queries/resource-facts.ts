/** The facts of a resource, and its alias and access in the projects that have it. */
import * as z from "zod";
import type { ListedResource } from "../../catalog/resource-service.ts";
import { SANDBOX_STRATEGIES, type ProjectResource } from "../../domain/resource/resource.ts";
import { Instant, instant } from "../base/schemas.ts";

export const ResourceFacts = z.strictObject({
  name: z.string(),
  type: z.string(),
  description: z.string().nullable(),
  path: z.string(),
  branch: z.string().nullable(),
  sandbox: z.strictObject({ strategy: z.enum(SANDBOX_STRATEGIES) }),
  projects: z.array(z.strictObject({ name: z.string(), alias: z.string(), readOnly: z.boolean() })),
  version: z.int(),
  createdAt: Instant,
  updatedAt: Instant,
});

/** A resource as one of its projects sees it. */
export const LinkFacts = z.strictObject({
  name: z.string(),
  alias: z.string(),
  readOnly: z.boolean(),
  type: z.string(),
  path: z.string(),
  branch: z.string().nullable(),
  linkedAt: Instant,
});

export function resourceFacts(resource: ListedResource): z.output<typeof ResourceFacts> {
  return {
    name: resource.name,
    type: resource.type,
    description: resource.description ?? null,
    path: resource.path,
    branch: resource.branch ?? null,
    sandbox: { strategy: resource.sandbox },
    projects: resource.projects.map(({ project, alias, readOnly }) => ({ name: project, alias, readOnly })),
    version: resource.version,
    createdAt: instant(resource.createdAt),
    updatedAt: instant(resource.updatedAt),
  };
}

export function linkFacts(link: ProjectResource): z.output<typeof LinkFacts> {
  return {
    name: link.resource,
    alias: link.alias,
    readOnly: link.readOnly,
    type: link.type,
    path: link.path,
    branch: link.branch ?? null,
    linkedAt: instant(link.linkedAt),
  };
}
