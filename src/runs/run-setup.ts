import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { worksInPlace, type ResourceTypeName } from "../domain/resource/resource.ts";
import { AgentsError, ConflictError, UsageError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { nameKey, type QualifiedName } from "../domain/names/qualified-name.ts";
import { checkoutProblem, commitAt } from "../git/checkout.ts";
import { unfinishedIn } from "../apply/git-target.ts";
import { git } from "../git/git.ts";
import { findWorkTree, nameOfDirectory } from "../git/work-tree.ts";
import type { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import type { ListedProject, ProjectService } from "../catalog/project-service.ts";
import type { ListedResource, ResourceService } from "../catalog/resource-service.ts";

/**
 * The things a plan needs before it can be made from a sentence: the repository as a resource, a project with it, and
 * the action whose only argument is the request. Each is created once and found from then on, also when several
 * processes ask at the same moment: the process that finds the name taken looks again.
 */
export interface RunSetup {
  readonly project: QualifiedName;
  readonly action: QualifiedName;
  /** The things that had to be created, for the user to know. */
  readonly made: readonly string[];
}

export interface SetupServices {
  readonly plans: PlanLifecycleService;
  readonly projects: ProjectService;
  readonly resources: ResourceService;
}

/** Of plans made by `agents run`. It names no actor: each run brings its own. */
export const RUN_ACTION = "local/run";
export const REQUEST = "request";
const TRIES = 20;

export async function setUpRun(
  services: SetupServices,
  wish: {
    readonly directory: string;
    readonly project: string | undefined;
    /** Names of arguments that its actor takes besides the request. */
    readonly arguments?: readonly string[];
    /** Whether a directory that is in no repository is meant; asked once, when it becomes a resource. */
    readonly isMeant?: (directory: string) => Promise<boolean>;
  },
): Promise<RunSetup> {
  const taken = [REQUEST, ...(wish.arguments ?? []).toSorted()];
  // Everything that can be refused is, before the first thing is written.
  await findRunAction(services.plans, taken);
  const scope = await (wish.project === undefined
    ? placeScope(services, await placeAt(services.resources, wish))
    : namedScope(services.projects, wish.project));
  const action = await runAction(services.plans, taken);
  return { project: scope.name, action: action.name, made: [...scope.made, ...action.made] };
}

interface Named {
  readonly name: QualifiedName;
  readonly made: readonly string[];
}

async function namedScope(projects: ProjectService, project: string): Promise<Named> {
  const { name, resources } = await projects.getProject(project);
  if (resources.length > 0) return { name, made: [] };
  throw new UsageError(`The project ${name} has no resource to work on.`, {
    kept: "Nothing was written.",
    next: [nextStep("project.link-resource", { project: name, resource: "<resource>" })],
  });
}

interface Place {
  readonly type: ResourceTypeName;
  readonly root: string;
}

async function placeScope({ resources, projects }: SetupServices, place: Place): Promise<Named> {
  const resource = await resourceFor(resources, place);
  const project = await projectFor(projects, resource.found, place.root);
  return { name: project.name, made: [...resource.made, ...project.made] };
}

/** The repository around the directory; else the directory itself, once the user has said that it is meant. */
async function placeAt(
  service: ResourceService,
  { directory, isMeant }: { readonly directory: string; readonly isMeant?: (directory: string) => Promise<boolean> },
): Promise<Place> {
  const root = await realpath(directory);
  const top = findWorkTree(root);
  if (top !== undefined) return { type: "git-checkout", root: await readyRepository(top) };
  const place = { type: "fs-directory", root } as const;
  if ((await findResource(service, place)) !== undefined) return place;
  // Plans work in a copy of all that is there.
  const tooMuch = [await realpath(homedir()).catch(homedir), "/"].includes(root);
  if (!tooMuch && isMeant !== undefined && (await isMeant(root))) return place;
  throw new UsageError(`${directory} is not in a git repository.`, {
    kept: "Nothing was written.",
    next: [
      { text: "cd <repository>" },
      ...(tooMuch || isMeant === undefined
        ? []
        : [nextStep("run", { request: "<request>", yes: true }, "to work on the directory itself")]),
      { text: "git init && git add --all && git commit -m Start" },
    ],
  });
}

const ENDINGS: Readonly<Record<string, string>> = {
  merge: "git merge --continue",
  "cherry-pick": "git cherry-pick --continue",
  revert: "git revert --continue",
  rebase: "git rebase --continue",
  bisection: "git bisect reset",
};

/** Before any model is paid for work that could not be done, or not be applied. */
async function readyRepository(root: string): Promise<string> {
  const unfinished = await unfinishedIn(root);
  if (unfinished !== undefined) {
    throw new UsageError(`A ${unfinished} is in progress in ${root}, so nothing could be applied there.`, {
      kept: "Nothing was written and nothing was sent.",
      next: [{ text: ENDINGS[unfinished] ?? "git status" }],
    });
  }
  if ((await commitAt(root, "HEAD")) !== undefined) return root;
  const problem = await checkoutProblem(root, undefined);
  if (problem !== undefined) throw new UsageError(`${problem.message}.`, { kept: "Nothing was written." });
  throw new UsageError(`The repository ${root} has no commit to start from.`, {
    kept: "Nothing was written.",
    next: [{ text: 'git add --all && git commit -m "Start"' }],
  });
}

/** How many files of the repository have changes that are not committed. */
export async function uncommittedFiles(directory: string): Promise<number> {
  const { code, stdout } = await git(["status", "--porcelain", "-z"], { cwd: directory, accept: "any" });
  return code === 0
    ? stdout
        .toString("utf8")
        .split("\0")
        .filter((entry) => entry !== "").length
    : 0;
}

interface Made<T> {
  readonly found: T;
  readonly made: readonly string[];
}

async function resourceFor(service: ResourceService, place: Place): Promise<Made<ListedResource>> {
  const { type, root } = place;
  return foundOrMade(
    () => findResource(service, place),
    root,
    async (name) => {
      const found = await service.addResource({ type, name, arguments: { path: root } });
      return { found, made: [`resource ${found.name}`] };
    },
  );
}

async function findResource(service: ResourceService, { type, root }: Place): Promise<ListedResource | undefined> {
  return (await service.listResources({ type })).find(
    (resource) => resource.path === root && resource.branch === undefined && !worksInPlace(resource),
  );
}

/** A project of this repository alone: what else another one has is not meant by a request made here. */
async function projectFor(service: ProjectService, resource: ListedResource, root: string): Promise<Named> {
  const look = async (): Promise<ListedProject | undefined> =>
    (await service.listProjects()).find(
      ({ resources: [first, ...others] }) =>
        first !== undefined && others.length === 0 && first.resource === resource.name && !first.readOnly,
    );
  const { found, made } = await foundOrMade(look, root, async (name) => {
    const project = await service.createProject({ name, resources: [resource.name] });
    return { found: project, made: [`project ${project.name}`] };
  });
  return { name: found.name, made };
}

async function foundOrMade<T>(
  look: () => Promise<T | undefined>,
  directory: string,
  make: (name: string) => Promise<Made<T>>,
): Promise<Made<T>> {
  const base = nameOfDirectory(directory);
  for (let number = 1; number <= TRIES; number += 1) {
    const found = await look();
    if (found !== undefined) return { found, made: [] };
    try {
      return await make(number === 1 ? base : `${base}-${number}`);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
    }
  }
  throw new AgentsError("conflict", `There are already ${TRIES} things called "${base}".`, {
    kept: "Nothing was written.",
    next: [nextStep("run", { request: "<request>", project: "<project>" })],
  });
}

async function runAction(service: PlanLifecycleService, taken: readonly string[]): Promise<Named> {
  const found = await findRunAction(service, taken);
  if (found !== undefined) return { name: found, made: [] };
  const [, ...others] = taken;
  try {
    const { name } = await service.createAction({
      name: runActionName(taken),
      description: `{${REQUEST}}`,
      definitionOfDone: `{${REQUEST}}`,
      arguments: [
        { name: REQUEST, type: "string", required: true, description: "The change you want", min: 1 },
        ...others.map((one) => ({ name: one, type: "string" as const, required: true, description: "" })),
      ],
    });
    return { name, made: [`action ${name}`] };
  } catch (error) {
    const other = error instanceof ConflictError ? await findRunAction(service, taken) : undefined;
    if (other === undefined) throw error;
    return { name: other, made: [] };
  }
}

/**
 * Runs that take the same arguments share an action. Its name says which; names that are too long for that, or differ
 * only in case, are told apart by a hash.
 */
function runActionName([, ...others]: readonly string[]): string {
  if (others.length === 0) return RUN_ACTION;
  const said = others.join("-");
  if (/^[a-z0-9_-]{1,60}$/.test(said)) return `${RUN_ACTION}-with-${said}`;
  return `${RUN_ACTION}-with-${createHash("sha256").update(others.join("\0")).digest("hex").slice(0, 16)}`;
}

/**
 * Undefined when there is none yet; one that cannot take a request was made by the user for something else and is left
 * alone.
 */
async function findRunAction(
  service: PlanLifecycleService,
  taken: readonly string[],
): Promise<QualifiedName | undefined> {
  const wanted = runActionName(taken);
  const found = (await service.listActions()).find(({ name }) => nameKey(name) === wanted);
  if (found === undefined) return undefined;
  const missing = taken.find((name) => !found.arguments.some((argument) => argument.name === name));
  if (found.state === "available" && missing === undefined) return found.name;
  const why = missing === undefined ? "archived" : `not the one for requests: it has no argument "${missing}"`;
  throw new ConflictError(
    `The action ${wanted} is ${why}.`,
    { expected: `an available action with the argument "${missing ?? REQUEST}"`, actual: found.state },
    {
      kept: "Nothing was written.",
      next: [
        nextStep("action.show", { action: RUN_ACTION }),
        nextStep("plan.use", { action: "<action>", projects: ["<project>"] }),
      ],
    },
  );
}
