/**
 * A user with a git repository and a plain directory, and plans that work on both. The command under test is a command
 * line; the steps before it are done here, through the same services.
 */
import { createHash } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DataDirectory } from "../../platform/data-directory.ts";
import { FILE_EFFECTS, type FileEffects } from "../../apply/file-effects.ts";
import type { FileSpec } from "../../execution/testing/trees.ts";
import { ActorService } from "../../catalog/actor-service.ts";
import { openStore } from "../../store/sqlite/open-store.ts";
import { PlanLifecycleService } from "../../plans/plan-lifecycle-service.ts";
import { ProjectService } from "../../catalog/project-service.ts";
import { ResourceService } from "../../catalog/resource-service.ts";
import type { JsonValue } from "../../domain/values/json.ts";
import type { PlanId } from "../../domain/names/ids.ts";
import type { Store } from "../../store/port.ts";
import type { ToolName } from "../../domain/names/tool-names.ts";
import { PlanApplier } from "../../apply/plan-applier.ts";
import { PlanExecutor } from "../../runs/plan-executor.ts";
import { git } from "../../testing/git-repository.ts";
import { profileAnywhere } from "../../testing/profile-anywhere.ts";
import { Agents, type Envelope } from "./agents.ts";

export type Files = Readonly<Record<string, FileSpec>>;
export type Step = readonly [
  tool: ToolName,
  params: Readonly<Record<string, JsonValue>>,
  /** Its id unless it is step-N, and the ids of those it comes after. */
  more?: { readonly id?: string; readonly needs?: string[] },
];

export interface WorldOptions {
  readonly files?: Files;
  readonly notes?: Files;
  /** The branch that the resource names; by default the one that is checked out. */
  readonly branch?: string;
  /** Whether repository and directory are resources of the project "shop" already; yes unless told. */
  readonly registered?: boolean;
  /** Before the resources are added. */
  readonly arrange?: (world: World) => void;
  /** Where the git resource is, when it is not the repository itself. */
  readonly checkout?: (world: World) => string;
}

export class World implements AsyncDisposable {
  readonly agents: Agents = new Agents();
  readonly repository: string = join(realpathSync(this.agents.directory), "my repo");
  readonly notes: string = join(realpathSync(this.agents.directory), "my notes");
  #store: Store | undefined;
  #plans = 0;

  static async make(options: WorldOptions = {}): Promise<World> {
    const world = new World();
    put(world.repository, { ".gitignore": "*.log\n", "a.txt": "one\ntwo\n", ...options.files });
    put(world.notes, { "notes.txt": "mine\n", ...options.notes });
    world.git("init", "--quiet", "--initial-branch=main");
    world.git("config", "user.name", "Ann");
    world.git("config", "user.email", "ann@example.org");
    world.commit("first");
    options.arrange?.(world);
    if (options.registered === false) return world;
    const parts = { store: await world.store() };
    const resources = new ResourceService(parts);
    const path = options.checkout?.(world) ?? world.repository;
    const { branch } = options;
    await resources.addResource({ type: "git-checkout", name: "api", arguments: { path, branch } });
    await resources.addResource({ type: "fs-directory", name: "notes", arguments: { path: world.notes } });
    await new ProjectService(parts).createProject({ name: "shop", resources: ["api", "notes"] });
    return world;
  }

  async store(): Promise<Store> {
    this.#store ??= await openStore(`sqlite:${this.agents.database}`);
    return this.#store;
  }

  git(...args: string[]): string {
    return git(this.repository, ...args);
  }

  /** As the user, who may mean another identity than the tests. */
  commit(message: string): string {
    this.git("add", "--all");
    this.git(
      "-c",
      "user.name=Ann",
      "-c",
      "user.email=ann@example.org",
      "commit",
      "--quiet",
      "--allow-empty",
      "-m",
      message,
    );
    return this.git("rev-parse", "HEAD").trim();
  }

  /** One more resource of the project. */
  async link(type: "git-checkout" | "fs-directory", name: string, path: string): Promise<void> {
    const resources = new ResourceService({ store: await this.store() });
    await resources.addResource({ type, name, arguments: { path } });
    await resources.linkResource("shop", name);
  }

  async used(steps: readonly Step[], project = "shop"): Promise<PlanId> {
    const parts = { store: await this.store() };
    this.#plans += 1;
    const [actor, action] = [`local/actor-${this.#plans}`, `local/action-${this.#plans}`];
    await new ActorService(parts).addActor({
      name: actor,
      type: "tool",
      description: "works",
      steps: steps.map(([tool, params, more], index) => ({ id: `step-${index + 1}`, tool, params, ...more })),
    });
    const service = new PlanLifecycleService(parts);
    const description = `Change things, part ${this.#plans}`;
    await service.createAction({ name: action, description, executionActor: actor, definitionOfDone: "They changed" });
    const automationProfile = await profileAnywhere(parts.store);
    return (await service.useAction({ action, projects: [project], automationProfile })).id;
  }

  /** A plan with all its steps done in the sandbox. */
  async executed(...steps: readonly Step[]): Promise<PlanId> {
    const id = await this.used(steps);
    await this.execute(id);
    return id;
  }

  async execute(id: PlanId): Promise<void> {
    const store = await this.store();
    const data = new DataDirectory(this.agents.dataDir);
    await new PlanExecutor({ store, service: new PlanLifecycleService({ store }), data }).execute(id);
  }

  async applier(effects: FileEffects = FILE_EFFECTS): Promise<PlanApplier> {
    const store = await this.store();
    const service = new PlanLifecycleService({ store });
    return new PlanApplier({ store, service, data: new DataDirectory(this.agents.dataDir), effects });
  }

  apply(id: string): Promise<Envelope> {
    return this.agents.json("plan", "apply", id, "--yes");
  }

  undo(id: string): Promise<Envelope> {
    return this.agents.json("plan", "undo", id, "--yes");
  }

  redo(id: string): Promise<Envelope> {
    return this.agents.json("plan", "redo", id, "--yes");
  }

  sandbox(id: string, alias: string): string {
    return join(this.agents.dataDir, "sandboxes", id, "1", alias, "tree");
  }

  read(path: string): string {
    return readFileSync(join(this.repository, path), "utf8");
  }

  readNote(path: string): string {
    return readFileSync(join(this.notes, path), "utf8");
  }

  write(files: Files): void {
    put(this.repository, files);
  }

  writeNotes(files: Files): void {
    put(this.notes, files);
  }

  /** Every byte and permission of repository and directory, and all of git except its objects. */
  everything(): Readonly<Record<string, string>> {
    return {
      ...listing(this.repository, { prefix: "repository", without: [join(this.repository, ".git", "objects")] }),
      ...listing(this.notes, { prefix: "notes" }),
    };
  }

  /** Files that apply and undo use on the way and must not leave behind, in the trees and in git. */
  leftovers(): string[] {
    return Object.keys(this.everything()).filter((path) =>
      /\.cleveragents-|\.git\/cleveragents-|index\.lock|fast_import_crash/.test(path),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store?.close();
    this.agents[Symbol.dispose]();
  }
}

/** Puts the files there, with the directories they need. */
export function put(root: string, files: Files): void {
  for (const [path, spec] of Object.entries(files)) {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    rmSync(file, { force: true });
    if (typeof spec === "string" || spec instanceof Uint8Array) {
      writeFileSync(file, spec);
    } else if ("link" in spec) {
      symlinkSync(spec.link, file);
    } else {
      writeFileSync(file, spec.executable);
      chmodSync(file, 0o755);
    }
  }
}

/** Path to permissions and content, of directories too, so that equal listings are equal trees. */
export function listing(
  root: string,
  options: { readonly prefix?: string; readonly without?: readonly string[] } = {},
): Record<string, string> {
  const { prefix = "", without = [] } = options;
  const found: Record<string, string> = {};
  const walk = (directory: string, below: string): void => {
    for (const name of readdirSync(directory).sort()) {
      const [file, path] = [join(directory, name), below === "" ? name : `${below}/${name}`];
      if (without.includes(file)) continue;
      const stat = lstatSync(file);
      const mode = (stat.mode & 0o7777).toString(8);
      if (stat.isSymbolicLink()) found[path] = `link ${readlinkSync(file)}`;
      else if (stat.isDirectory()) found[path] = `directory ${mode}`;
      else found[path] = `${mode} ${createHash("sha256").update(readFileSync(file)).digest("hex")}`;
      if (stat.isDirectory()) walk(file, path);
    }
  };
  walk(root, prefix);
  return found;
}

/** The files of a tree with their permissions, without git's own directory. */
export function contents(root: string): Record<string, string> {
  const all = Object.entries(listing(root, { without: [join(root, ".git")] }));
  return Object.fromEntries(
    all.flatMap(([path, what]) => {
      if (what.startsWith("directory")) return [];
      const [mode = "", rest = ""] = what.split(" ", 2);
      return [[path, mode === "link" ? what : `${(Number.parseInt(mode, 8) & 0o100) === 0 ? "644" : "755"} ${rest}`]];
    }),
  );
}
