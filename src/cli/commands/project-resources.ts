import type { ProjectResource } from "../../domain/resource.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { instant, orDash } from "../format.ts";
import { info, type Outcome } from "../outcome.ts";
import type { Element } from "../view.ts";

/** What a project works on. */
export async function linkResource(context: CommandContext, input: Input): Promise<Outcome> {
  const link = await (
    await context.resources()
  ).linkResource(input.argument(0), input.argument(1), {
    alias: input.text("alias"),
    readOnly: input.flag("readOnly"),
  });
  return {
    data: { linked: true, project: link.project, resource: linkData(link) },
    view: [],
    messages: info(
      `Project ${link.project} has ${link.resource} as ${link.alias}${link.readOnly ? ", read-only" : ""}.`,
    ),
    next: [`agents project show ${link.project}`],
  };
}

export async function unlinkResource(context: CommandContext, input: Input): Promise<Outcome> {
  const link = await (await context.resources()).unlinkResource(input.argument(0), input.argument(1));
  return {
    data: { unlinked: true, project: link.project, resource: linkData(link) },
    view: [],
    messages: info(`Project ${link.project} no longer has ${link.resource} (it was ${link.alias}).`),
  };
}

export function linkData(link: ProjectResource): Record<string, unknown> {
  return {
    name: link.resource,
    alias: link.alias,
    read_only: link.readOnly,
    type: link.type,
    path: link.path,
    branch: link.branch ?? null,
    linked_at: instant(link.linkedAt),
  };
}

export function resourcesTable(links: readonly ProjectResource[]): Element {
  return {
    kind: "table",
    title: "Resources",
    columns: [{ keep: "Alias" }, { keep: "Resource" }, "Type", "Access", "Branch", "Path"],
    rows: links.map((link) => [
      link.alias,
      link.resource,
      link.type,
      link.readOnly ? "read-only" : "read-write",
      orDash(link.branch),
      link.path,
    ]),
    empty: "",
  };
}
