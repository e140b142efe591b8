/** The facts of a project: its number of plans and its resources. */
import * as z from "zod";
import type { ListedProject } from "../../catalog/project-service.ts";
import { Instant, instant } from "../base/schemas.ts";
import { LinkFacts, linkFacts } from "./resource-facts.ts";

export const ProjectFacts = z.strictObject({
  name: z.string(),
  description: z.string().nullable(),
  plans: z.int(),
  activePlans: z.int(),
  resources: z.array(LinkFacts),
  version: z.int(),
  createdAt: Instant,
  updatedAt: Instant,
});

export function projectFacts(project: ListedProject): z.output<typeof ProjectFacts> {
  return {
    name: project.name,
    description: project.description ?? null,
    plans: project.plans,
    activePlans: project.activePlans,
    resources: project.resources.map(linkFacts),
    version: project.version,
    createdAt: instant(project.createdAt),
    updatedAt: instant(project.updatedAt),
  };
}
