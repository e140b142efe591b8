import { homedir } from "node:os";
import { parse, resolve } from "node:path";
import {
  resolveView,
  type ContextPolicy,
  type ContextView,
  type ResolvedView,
} from "../domain/context/context-policy.ts";
import { AgentsError, UsageError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { QualifiedName } from "../domain/names/qualified-name.ts";
import { shown } from "../domain/text/text.ts";
import { findWorkTree, nameOfDirectory } from "../git/work-tree.ts";
import { findContextPolicy } from "../store/tables/context-policies.ts";
import { findLinks } from "../store/tables/resources.ts";
import type { Reader, Store } from "../store/port.ts";
import { filterOf, indexedSize, type ContextPlace } from "../context/front/context-places.ts";
import { requireProject } from "./project-links.ts";

/** Where the context of a project, or of a directory without one, is taken from. */
export interface ContextSource {
  /** The name under which failing strategies are switched off. */
  readonly name: string;
  /** Undefined for a directory. */
  readonly project: QualifiedName | undefined;
  readonly places: readonly ContextPlace[];
  readonly view: ResolvedView;
}

/** A project with its resources as they are now. */
export async function projectSource(store: Store, project: string, view: ContextView): Promise<ContextSource> {
  return store.read(async (reader) => {
    const { name } = await requireProject(reader, project);
    const policy = await findContextPolicy(reader, name);
    const places = await resourcePlaces(reader, name, policy, view);
    if (places.length > 0) return { name, project: name, places, view: resolveView(policy, view) };
    throw new AgentsError("not_found", `The project "${name}" has no resource, so there is nothing to see.`, {
      kept: "Nothing was changed.",
      next: [nextStep("project.link-resource", { project: name, resource: "<resource>" }), nextStep("resource.list")],
      detail: { project: name },
    });
  });
}

/** The directories of a project's resources, through one of its views. */
export async function resourcePlaces(
  reader: Reader,
  project: QualifiedName,
  policy: ContextPolicy,
  view: ContextView,
): Promise<ContextPlace[]> {
  const filter = filterOf(resolveView(policy, view));
  const links = await findLinks(reader, { project });
  return links.map(({ alias, path }) => ({
    resource: alias,
    root: path,
    sandbox: undefined,
    filter,
    indexedSize: indexedSize(policy),
  }));
}

/** A directory without a project: the git work tree around it, or the directory itself. `named`: the user chose it. */
export function directorySource(directory: string, named: boolean): ContextSource {
  const start = resolve(directory);
  const root = findWorkTree(start) ?? start;
  if (!named && [homedir(), parse(root).root].includes(root)) {
    throw new UsageError(`${shown(root)} is not a repository, and too large to search.`, {
      kept: "Nothing was read.",
      next: [{ text: "go to a repository or directory" }, { text: "name one with --path" }],
    });
  }
  const view = resolveView({}, "default");
  const resource = nameOfDirectory(root);
  const place = { resource, root, sandbox: undefined, filter: filterOf(view), indexedSize: indexedSize({}) };
  return { name: root, project: undefined, places: [place], view };
}
