import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, parse, resolve } from "node:path";
import { resolveView, type ContextPolicy, type ContextView, type ResolvedView } from "../domain/context-policy.ts";
import { AgentsError, UsageError } from "../domain/errors.ts";
import type { QualifiedName } from "../domain/qualified-name.ts";
import { shown } from "../domain/text.ts";
import { findContextPolicy } from "../store/context-policies.ts";
import { findLinks } from "../store/resources.ts";
import type { Reader, Store } from "../store/store.ts";
import { filterOf, indexedSize, type ContextPlace } from "./context-places.ts";
import { requireProject } from "./project-links.ts";

/** Where the context of a project, or of a directory without one, is taken from. */
export interface ContextSource {
  /** Under which strategies that keep failing are switched off. */
  readonly name: string;
  /** Undefined for a directory. */
  readonly project: QualifiedName | undefined;
  readonly places: readonly ContextPlace[];
  readonly view: ResolvedView;
}

/** A project as its resources are now. */
export async function projectSource(store: Store, project: string, view: ContextView): Promise<ContextSource> {
  return store.read(async (reader) => {
    const { name } = await requireProject(reader, project);
    const policy = await findContextPolicy(reader, name);
    const places = await resourcePlaces(reader, name, policy, view);
    if (places.length > 0) return { name, project: name, places, view: resolveView(policy, view) };
    throw new AgentsError("not_found", `The project "${name}" has no resource, so there is nothing to see.`, {
      kept: "Nothing was changed.",
      next: [`agents project link-resource ${name} <resource>`, "agents resource list"],
      detail: { project: name },
    });
  });
}

/** The resources of a project as their own directories are, through one of its views. */
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

/** A directory without a project: the git work tree around it, or the directory itself. `named`: somebody chose it. */
export function directorySource(directory: string, named: boolean): ContextSource {
  const start = resolve(directory);
  const root = workTreeOf(start) ?? start;
  if (!named && [homedir(), parse(root).root].includes(root)) {
    throw new UsageError(`${shown(root)} is no repository, and too much to look through.`, {
      kept: "Nothing was read.",
      next: ["go to a repository or directory", "name one with --path"],
    });
  }
  const view = resolveView({}, "default");
  const resource = basename(root).replaceAll(/[^A-Za-z0-9_.-]/g, "_") || "root";
  const place = { resource, root, sandbox: undefined, filter: filterOf(view), indexedSize: indexedSize({}) };
  return { name: root, project: undefined, places: [place], view };
}

function workTreeOf(directory: string): string | undefined {
  for (let current = directory; ; current = dirname(current)) {
    if (existsSync(join(current, ".git"))) return current;
    if (dirname(current) === current) return undefined;
  }
}
