import { realpath } from "node:fs/promises";
import { worksInPlace } from "../domain/resource/resource.ts";
import { AgentsError, ConflictError, UsageError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { nameKey, type QualifiedName } from "../domain/names/qualified-name.ts";
import { checkoutProblem, commitAt } from "../git/checkout.ts";
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
const REQUEST = "request";
const TRIES = 20;

export async function setUpRun(
  services: SetupServices,
  wish: { readonly directory: string; readonly project: string | undefined },
): Promise<RunSetup> {
  // Everything that can be refused is, before the first thing is written.
  await findRunAction(services.plans);
  const scope = await (wish.project === undefined
    ? repositoryScope(services, await repositoryAt(wish.directory))
    : namedScope(services.projects, wish.project));
  const action = await runAction(services.plans);
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

async function repositoryScope({ resources, projects }: SetupServices, root: string): Promise<Named> {
  const resource = await resourceFor(resources, root);
  const project = await projectFor(projects, resource.found, root);
  return { name: project.name, made: [...resource.made, ...project.made] };
}

async function repositoryAt(directory: string): Promise<string> {
  const top = findWorkTree(await realpath(directory));
  if (top !== undefined) return withCommit(top);
  throw new UsageError(`${directory} is not in a git repository.`, {
    kept: "Nothing was written.",
    next: [
      { text: "cd <repository>" },
      nextStep("resource.add", { type: "fs-directory", resource: "<name>", path: "<directory>" }),
      nextStep("run", { request: "<request>", project: "<project>" }),
    ],
  });
}

/** Before any model is paid for work that could not be done. */
async function withCommit(root: string): Promise<string> {
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

async function resourceFor(service: ResourceService, root: string): Promise<Made<ListedResource>> {
  const look = async (): Promise<ListedResource | undefined> =>
    (await service.listResources({ type: "git-checkout" })).find(
      (resource) => resource.path === root && resource.branch === undefined && !worksInPlace(resource),
    );
  return foundOrMade(look, root, async (name) => {
    const found = await service.addResource({ type: "git-checkout", name, arguments: { path: root } });
    return { found, made: [`resource ${found.name}`] };
  });
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

async function runAction(service: PlanLifecycleService): Promise<Named> {
  const found = await findRunAction(service);
  if (found !== undefined) return { name: found, made: [] };
  try {
    const { name } = await service.createAction({
      name: RUN_ACTION,
      description: `{${REQUEST}}`,
      definitionOfDone: `{${REQUEST}}`,
      arguments: [{ name: REQUEST, type: "string", required: true, description: "The change you want", min: 1 }],
    });
    return { name, made: [`action ${name}`] };
  } catch (error) {
    const other = error instanceof ConflictError ? await findRunAction(service) : undefined;
    if (other === undefined) throw error;
    return { name: other, made: [] };
  }
}

/**
 * Undefined when there is none yet; one that cannot take a request was made by the user for something else and is left
 * alone.
 */
async function findRunAction(service: PlanLifecycleService): Promise<QualifiedName | undefined> {
  const found = (await service.listActions()).find(({ name }) => nameKey(name) === RUN_ACTION);
  if (found === undefined) return undefined;
  const takesRequests = found.arguments.some((argument) => argument.name === REQUEST);
  if (found.state === "available" && takesRequests) return found.name;
  const why = takesRequests ? "archived" : `not the one for requests: it has no argument "${REQUEST}"`;
  throw new ConflictError(
    `The action ${RUN_ACTION} is ${why}.`,
    { expected: `an available action with the argument "${REQUEST}"`, actual: found.state },
    {
      kept: "Nothing was written.",
      next: [
        nextStep("action.show", { action: RUN_ACTION }),
        nextStep("plan.use", { action: "<action>", projects: ["<project>"] }),
      ],
    },
  );
}
