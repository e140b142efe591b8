/**
 * A user's checkout and directory, a store, and a plan that changed both in every way a file can change, executed and
 * ready to be applied. All of it is below one directory, so that it can be reset, and a thousand crashes start from the
 * same state.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { chmod, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DataDirectory } from "../../platform/data-directory.ts";
import { ActorService } from "../../catalog/actor-service.ts";
import { openStore } from "../../store/sqlite/open-store.ts";
import { PlanApplier } from "../plan-applier.ts";
import { PlanExecutor } from "../../runs/plan-executor.ts";
import { PlanLifecycleService } from "../../plans/plan-lifecycle-service.ts";
import { ProjectService } from "../../catalog/project-service.ts";
import { recoverLandings, type Recovered } from "../plan-recovery.ts";
import { ResourceService } from "../../catalog/resource-service.ts";
import { statusKey } from "../../domain/plan/transitions.ts";
import type { PlanId } from "../../domain/names/ids.ts";
import type { Store } from "../../store/port.ts";
import { fill, readTree } from "../../execution/testing/trees.ts";
import { alteredStore } from "../../testing/altered-store.ts";
import { profileAnywhere } from "../../testing/profile-anywhere.ts";
import { FILE_EFFECTS, type FileEffects } from "../file-effects.ts";
import type { TakenPart } from "../partial-landing.ts";
import { findUndoneSteps } from "../../ledger/journal.ts";

/** Thrown when the world stops: no effect after it happens. */
export class Stopped extends Error {}

/**
 * File effects that do `count` things and then stop the world; `done` lists them. With `failing`, that one thing fails
 * as a disk does, and the world continues.
 */
export class StoppingEffects {
  readonly done: string[] = [];
  readonly effects: FileEffects;
  stopped = false;
  #failing: number | undefined;

  constructor(count: number, options: { readonly failing?: number } = {}) {
    this.#failing = options.failing;
    const counted =
      <A extends unknown[], R>(name: string, act: (...args: A) => R) =>
      (...args: A): R => {
        if (this.stopped || this.done.length >= count) {
          this.stopped = true;
          throw new Stopped();
        }
        if (this.done.length === this.#failing) {
          this.#failing = undefined;
          throw Object.assign(new Error(`EIO: ${name}`), { code: "EIO" });
        }
        const result = act(...args);
        this.done.push(name);
        return result;
      };
    this.effects = {
      write: counted("write", FILE_EFFECTS.write),
      symlink: counted("symlink", FILE_EFFECTS.symlink),
      link: counted("link", FILE_EFFECTS.link),
      rename: counted("rename", FILE_EFFECTS.rename),
      remove: counted("remove", FILE_EFFECTS.remove),
      makeDirectory: counted("make directory", FILE_EFFECTS.makeDirectory),
      removeDirectory: counted("remove directory", FILE_EFFECTS.removeDirectory),
      removeTree: counted("remove tree", FILE_EFFECTS.removeTree),
      sync: FILE_EFFECTS.sync,
      updateRefs: counted("update refs", FILE_EFFECTS.updateRefs),
    };
  }
}

/** The parts of a process that may stop. */
export interface Stopping {
  readonly effects: FileEffects;
  readonly stopped: boolean;
  readonly beforeTransaction?: () => void;
}

/** Everything that a user can see. */
export interface WorldState {
  readonly repository: readonly (readonly [string, string])[];
  readonly directory: readonly (readonly [string, string])[];
  readonly status: string;
  readonly stash: string;
  readonly log: string;
}

export class LandingWorld implements Disposable {
  readonly #home = mkdtempSync(join(tmpdir(), "cleveragents-landing-"));
  readonly #root = join(this.#home, "world");
  readonly #template = join(this.#home, "template");
  readonly repository: string = join(this.#root, "repository");
  readonly directory: string = join(this.#root, "directory");
  readonly dataDir: string = join(this.#root, "data");
  planId = "" as PlanId;

  /** With `includeDirty`, the plan starts from the uncommitted files, also in a file that it changes itself. */
  static async make(options: { readonly includeDirty?: boolean } = {}): Promise<LandingWorld> {
    const world = new LandingWorld();
    await world.#fill();
    if (options.includeDirty === true)
      await writeFile(join(world.repository, "edit.txt"), "one\ntwo\nthree\nfour\nfive\nmine\n");
    await world.#execute(options);
    cpSync(world.#root, world.#template, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    return world;
  }

  /** Back to the executed plan that is not applied yet. */
  reset(): void {
    rmSync(this.#root, { recursive: true, force: true });
    execFileSync("cp", ["-a", this.#template, this.#root]);
  }

  /** From now on `reset` comes back to here. */
  keep(): void {
    rmSync(this.#template, { recursive: true, force: true });
    execFileSync("cp", ["-a", this.#root, this.#template]);
  }

  open(): Promise<Store> {
    return openStore(`sqlite:${join(this.dataDir, "store.db")}`);
  }

  /** Runs one landing with these effects; false when the world stopped on the way. */
  async run(
    deed: "apply" | "undo" | "redo",
    stopping?: Stopping,
    options: { readonly steps?: ReadonlySet<string>; readonly part?: TakenPart } = {},
  ): Promise<boolean> {
    return this.#alive(stopping, async (store, effects) => {
      const service = new PlanLifecycleService({ store });
      await new PlanApplier({ store, service, data: new DataDirectory(this.dataDir), effects })[deed](
        this.planId,
        options,
      );
    });
  }

  /** Recovers, as the next command does first. */
  async recover(stopping?: Stopping): Promise<Recovered[] | undefined> {
    let recovered: Recovered[] | undefined;
    const alive = await this.#alive(stopping, async (store, effects) => {
      recovered = await recoverLandings({ store, data: new DataDirectory(this.dataDir), effects });
    });
    return alive ? recovered : undefined;
  }

  async #alive(
    stopping: Stopping | undefined,
    act: (store: Store, effects: FileEffects) => Promise<void>,
  ): Promise<boolean> {
    await using store = await this.open();
    const guarded = alteredStore(store, {
      // A dead process writes nothing into the store either.
      transaction: (unit) => {
        stopping?.beforeTransaction?.();
        return stopping?.stopped === true ? Promise.reject(new Stopped()) : store.transaction(unit);
      },
      read: (query) => (stopping?.stopped === true ? Promise.reject(new Stopped()) : store.read(query)),
    });
    try {
      await act(guarded, stopping?.effects ?? FILE_EFFECTS);
      return stopping?.stopped !== true;
    } catch (error) {
      if (stopping?.stopped === true) return false;
      throw error;
    }
  }

  async undoneSteps(): Promise<string[]> {
    await using store = await this.open();
    return store.read((reader) => findUndoneSteps(reader, this.planId));
  }

  async planStatus(): Promise<{ status: string; undone: boolean }> {
    await using store = await this.open();
    const plan = await new PlanLifecycleService({ store }).getPlan(this.planId);
    return { status: statusKey(plan), undone: plan.undoneAt !== undefined };
  }

  async state(): Promise<WorldState> {
    return {
      repository: [...(await readTree(this.repository))],
      directory: [...(await readTree(this.directory))],
      status: this.git("--no-optional-locks", "status", "--porcelain"),
      stash: readFileSync(join(this.repository, ".git", "refs", "stash"), "utf8"),
      log: this.git("log", "--format=%T %an %s", "main"),
    };
  }

  /** Files of ours that must never be left behind. */
  leftovers(): string[] {
    const found = [this.repository, this.directory, join(this.repository, ".git")].flatMap((place) =>
      readdirSync(place).filter((name) => /cleveragents-|\.lock$/.test(name)),
    );
    return existsSync(join(this.repository, ".git", "index.lock")) ? [...found, "index.lock"] : found;
  }

  git(...args: string[]): string {
    return execFileSync("git", args, { cwd: this.repository, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  }

  async #fill(): Promise<void> {
    for (const place of [this.repository, this.directory, this.dataDir]) mkdirSync(place, { recursive: true });
    const files = {
      "edit.txt": "one\ntwo\nthree\nfour\nfive\nsix\n",
      "gone.txt": "gone\n",
      "deep/er/gone.txt": "gone too\n",
      "moved.txt": "moved\n",
      "becomes-directory": "file\n",
      "becomes-file/a": "a\n",
      "becomes-file/b": "b\n",
      "script.sh": "#!/bin/sh\n",
      link: { link: "edit.txt" },
      "stays.txt": "stays\n",
    };
    await fill(this.repository, { ...files, ".gitignore": "*.log\n" });
    await fill(this.directory, files);
    this.git("init", "--quiet", "--initial-branch=main");
    for (const [key, value] of [
      ["user.name", "User"],
      ["user.email", "user@example.com"],
    ] as const) {
      this.git("config", key, value);
    }
    this.git("add", "--all");
    this.git("commit", "--quiet", "--message=first");
    await fill(this.repository, { "stashed.txt": "stashed\n" });
    this.git("stash", "push", "--quiet", "--include-untracked");
    // The user's own files, which the plan does not touch.
    await fill(this.repository, { "staged.txt": "staged\n", "untracked.txt": "untracked\n", "x.log": "ignored\n" });
    this.git("add", "staged.txt");
    await writeFile(join(this.repository, "stays.txt"), "stays, edited\n");
    await chmod(join(this.directory, "edit.txt"), 0o600);
  }

  async #execute(options: { readonly includeDirty?: boolean }): Promise<void> {
    await using store = await this.open();
    await new ResourceService({ store }).addResource({
      type: "git-checkout",
      name: "repo",
      arguments: { path: this.repository },
    });
    await new ResourceService({ store }).addResource({
      type: "fs-directory",
      name: "dir",
      arguments: { path: this.directory },
    });
    await new ProjectService({ store }).createProject({ name: "shop", resources: ["repo", "dir"] });
    const command =
      "sed -i s/two/TWO/ edit.txt; rm gone.txt deep/er/gone.txt; mv moved.txt elsewhere.txt; rm becomes-directory; mkdir becomes-directory; " +
      "echo x > becomes-directory/x; rm -r becomes-file; echo f > becomes-file; chmod +x script.sh; ln -sfn stays.txt link; " +
      "mkdir -p new/deep; echo n > new/deep/n.txt; printf '' > empty; printf 'no newline' > tail";
    const steps = ["repo", "dir"].map((resource) => ({
      id: resource,
      tool: "shell_execute",
      params: { resource, command },
    }));
    await new ActorService({ store }).addActor({ name: "worker", type: "tool", description: "works", steps });
    const service = new PlanLifecycleService({ store });
    await service.createAction({
      name: "work",
      description: "Work",
      definitionOfDone: "Done",
      executionActor: "local/worker",
    });
    const automationProfile = await profileAnywhere(store);
    const plan = await service.useAction({ action: "work", projects: ["shop"], automationProfile });
    await new PlanExecutor({ store, service, data: new DataDirectory(this.dataDir) }).execute(plan.id, options);
    this.planId = plan.id;
  }

  [Symbol.dispose](): void {
    rmSync(this.#home, { recursive: true, force: true });
  }
}
