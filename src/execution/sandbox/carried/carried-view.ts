/**
 * The part of a command's view that comes from the user's checkout and home: directories of dependencies and builds in
 * the tree, caches of package managers in the command's home, and the names that the tree has in the user's checkout.
 * Everything is a mount, so where no mounts can be made nothing comes along.
 */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import type { ConfinementBackend } from "../../../confinement/backend.ts";
import { commandPolicy } from "../../../confinement/command-policy.ts";
import { findConfinement } from "../../../confinement/confinement.ts";
import { layeringBackend } from "../../../confinement/layering.ts";
import type { Layer, FileView } from "../../../confinement/mounts.ts";
import { packageCaches } from "../../../confinement/package-caches.ts";
import { AgentsError } from "../../../domain/errors/errors.ts";
import type { SandboxStrategy } from "../../../domain/resource/resource.ts";
import { git } from "../../../git/git.ts";
import { sandboxGit } from "../../../git/own-repository.ts";
import { ContainedDirectory, ifCode } from "../../../platform/contained-path.ts";
import { ignoredParts, type IgnoredPart } from "./ignored-parts.ts";
import { missingInSandbox } from "./missing-program.ts";
import { finishedSetup, setupPlace } from "./setup-layers.ts";
import { makeLayer, type LayerPlace } from "./layer-making.ts";

export interface CarriedView extends Required<Pick<FileView, "layers" | "links">> {
  /** The backend that can make these layers; undefined where any can. */
  readonly backend: ConfinementBackend | undefined;
  /** Explains in a sentence why a command that printed this did not find something that the checkout has. */
  readonly explain: (output: string) => string | undefined;
}

interface Origin {
  /** The user's checkout or directory. */
  readonly path: string;
  readonly strategy: SandboxStrategy;
  readonly objects: string | undefined;
}

interface Prepared {
  readonly layers: readonly { readonly layer: Layer; readonly base: string; readonly at: string }[];
  readonly backend: ConfinementBackend | undefined;
  /** Why something of the checkout did not come along. */
  readonly left: readonly { readonly at: string; readonly why: string }[];
}

/** Made when the first command is about to run; most plans of file tools never need it. */
export function carriedView(facts: Origin, home: string): () => Promise<CarriedView> {
  let prepared: Promise<Prepared> | undefined;
  return async () => {
    prepared ??= prepare(facts, home);
    const { layers, backend, left } = await prepared;
    const there: Layer[] = [];
    for (const one of layers) if (await hasPlace(one)) there.push(one.layer);
    const tree = join(home, "tree");
    const links = there.some(({ path }) => path.startsWith(`${tree}${sep}`)) ? linksInto(tree, facts.path, home) : [];
    const why = (path: string): string | undefined => {
      if (there.some((layer) => isIn(join(tree, path), layer.path))) return undefined;
      return (
        left.find(({ at }) => isIn(path, at))?.why ?? "it is not tracked by git, and sandbox.carry does not name it"
      );
    };
    const explain = (output: string): string | undefined =>
      missingInSandbox(output, { checkout: facts.path, tree, why });
    return { layers: there, links, backend, explain };
  };
}

function isIn(path: string, directory: string): boolean {
  return directory === "" || path === directory || path.startsWith(`${directory}${sep}`);
}

/** A set-up that has succeeded for these lockfiles takes the place of the checkout's directories. */
async function partsOf({ path: checkout, strategy, objects }: Origin, home: string): Promise<readonly IgnoredPart[]> {
  // A copy of a plain directory has everything already.
  if (strategy !== "git_worktree") return [];
  const root = join(home, "tree");
  const place = await setupPlace({ root, objects }, dirname(dirname(dirname(home))));
  const made = place === undefined ? [] : (finishedSetup(place) ?? []);
  const parts = await ignoredParts(checkout, commandPolicy().carry);
  return [...made, ...parts.filter(({ path }) => !made.some((one) => isIn(path, one.path)))];
}

async function prepare(origin: Origin, home: string): Promise<Prepared> {
  const { kind } = await findConfinement();
  if (kind === "none" || kind === "seatbelt")
    return {
      layers: [],
      backend: undefined,
      left: [{ at: "", why: "directories come along only where commands can be confined by mounts" }],
    };
  const tree = join(home, "tree");
  const places: (LayerPlace & { base: string; at: string })[] = [];
  for (const { path: at, source, kind: what } of await partsOf(origin, home))
    places.push({ base: tree, at, path: join(tree, at), source, kind: what });
  const own = join(home, "home");
  for (const { at, source } of packageCaches())
    places.push({ base: own, at, path: join(own, at), source, kind: "cache" });
  const left: { at: string; why: string }[] = [];
  if (places.length === 0) return { layers: [], backend: undefined, left };
  const backend = await layeringBackend(home);
  const layers: Prepared["layers"][number][] = [];
  for (const { base, at, ...place } of places) {
    const made = await makeLayer(home, place, backend !== undefined);
    if ("layer" in made) layers.push({ layer: made.layer, base, at });
    else left.push({ at, why: made.why });
  }
  return { layers, backend, left };
}

/**
 * Makes the place to mount on. A command may have put something else there, or a link above it: then the layer is left
 * out, and what the command made counts.
 */
async function hasPlace({ layer, base, at }: Prepared["layers"][number]): Promise<boolean> {
  const source = layer.kind === "overlay" ? layer.lower : layer.source;
  const found = await lstat(source).catch(ifCode("ENOENT", "ENOTDIR"));
  if (found === undefined) return false;
  try {
    mkdirSync(base, { recursive: true });
    const { directory: opened, name } = await ContainedDirectory.of(base, at, { create: true });
    await using directory = opened;
    const place = directory.at(name);
    const there = await lstat(place).catch(ifCode("ENOENT"));
    if (there !== undefined) return found.isDirectory() ? there.isDirectory() : there.isFile();
    if (found.isDirectory()) mkdirSync(place);
    // A file that is not ignored there would become part of the plan.
    else if (!(await isIgnored(base, at))) return false;
    else writeFileSync(place, "", { flag: "wx" });
    return true;
  } catch (error) {
    if (error instanceof AgentsError) return false;
    throw error;
  }
}

async function isIgnored(tree: string, path: string): Promise<boolean> {
  const place = { cwd: tree, sandbox: sandboxGit(tree, undefined) };
  const { code } = await git(["check-ignore", "--quiet", "--no-index", "--", `./${path}`], {
    ...place,
    accept: [0, 1],
  });
  return code === 0;
}

/** More names at the top of a tree are not linked. */
const LINKS = 500;

/**
 * Virtual environments and build caches know the checkout by its absolute path. There, the names lead into the tree:
 * so a program that was installed with that path finds the plan's files, and never the user's.
 */
function linksInto(tree: string, checkout: string, home: string): { path: string; to: string }[] {
  if (`${home}${sep}`.startsWith(`${checkout}${sep}`) || !existsSync(tree)) return [];
  const names = readdirSync(tree).filter((name) => name !== ".git" && /^[\w.@+-]+$/.test(name));
  return names.slice(0, LINKS).map((name) => ({ path: join(checkout, name), to: join(tree, name) }));
}
