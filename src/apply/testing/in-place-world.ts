/** A user's directory or checkout that a plan works on in place, below one directory so that it can be reset. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DataDirectory } from "../../platform/data-directory.ts";
import { ActorService } from "../../catalog/actor-service.ts";
import { ChangesetStore } from "../../ledger/changesets.ts";
import { openStore } from "../../store/sqlite/open-store.ts";
import { PlanExecutor } from "../../runs/plan-executor.ts";
import { PlanLifecycleService } from "../../plans/plan-lifecycle-service.ts";
import { ProjectService } from "../../catalog/project-service.ts";
import { recoverLandings } from "../plan-recovery.ts";
import { ResourceService } from "../../catalog/resource-service.ts";
import type { PlanId } from "../../domain/names/ids.ts";
import type { Store } from "../../store/port.ts";
import { planChanges } from "../../changes/plan-changes.ts";
import { fill, readTree, replay, type Tree } from "../../execution/testing/trees.ts";
import { alteredStore } from "../../testing/altered-store.ts";
import { git } from "../../testing/git-repository.ts";
import { FILE_EFFECTS } from "../file-effects.ts";
import { Stopped, type Stopping } from "./landing-world.ts";

const FILES = {
  "a.txt": "one\ntwo\nthree\n",
  "code/a.ts": "log(1);\n",
  "code/b.ts": "log(2);\n",
  "old/deep/x": "x\n",
  "old/y": "y\n",
  "stays.txt": "stays\n",
};

/** Every way in which a step can change something: alone, several files at once, new and emptied directories. */
const STEPS = [
  { id: "write", tool: "write_file", params: { path: "new/deep/n.txt", content: "n\n" } },
  { id: "edit", tool: "edit_file", params: { path: "a.txt", old: "two", new: "2" } },
  { id: "mode", tool: "write_file", params: { path: "stays.txt", content: "stays\n", mode: "755" } },
  { id: "rename", tool: "move_file", params: { path: "a.txt", to: "moved/a.txt" } },
  { id: "rewrite", tool: "rewrite_code", params: { language: "typescript", pattern: "log($A)", rewrite: "say($A)" } },
  { id: "drop", tool: "delete_directory", params: { path: "old" } },
  { id: "look", tool: "search_files", params: { pattern: "say" } },
];

export class InPlaceWorld implements Disposable {
  readonly #home = mkdtempSync(join(tmpdir(), "cleveragents-in-place-"));
  readonly #root = join(this.#home, "world");
  readonly place: string = join(this.#root, "place");
  readonly dataDir: string = join(this.#root, "data");
  planId = "" as PlanId;

  static async make(type: "git-checkout" | "fs-directory"): Promise<InPlaceWorld> {
    const world = new InPlaceWorld();
    await fill(world.place, FILES);
    if (type === "git-checkout") {
      git(world.place, "init", "--quiet", "--initial-branch=main");
      git(world.place, "add", "--all");
      git(world.place, "-c", "user.name=Ann", "-c", "user.email=ann@example.org", "commit", "--quiet", "-m", "first");
    }
    await using store = await world.open();
    const path = world.place;
    await new ResourceService({ store }).addResource({ type, name: "api", arguments: { path, sandbox: "none" } });
    await new ProjectService({ store }).createProject({ name: "shop", resources: ["api"] });
    const actor = { name: "worker", type: "tool", description: "works", steps: STEPS };
    await new ActorService({ store }).addActor(actor);
    const service = new PlanLifecycleService({ store });
    const words = { description: "Work", definitionOfDone: "Done", executionActor: "local/worker" };
    await service.createAction({ name: "work", ...words });
    const plan = await service.useAction({ action: "work", projects: ["shop"], automationProfile: "full-auto" });
    world.planId = plan.id;
    cpSync(world.#root, join(world.#home, "template"), { recursive: true, preserveTimestamps: true });
    return world;
  }

  reset(): void {
    rmSync(this.#root, { recursive: true, force: true });
    execFileSync("cp", ["-a", join(this.#home, "template"), this.#root]);
  }

  open(): Promise<Store> {
    return openStore(`sqlite:${join(this.dataDir, "store.db")}`);
  }

  /** Executes the plan with these effects; false when the world stopped on the way. */
  async execute(stopping?: Stopping): Promise<boolean> {
    await using store = await this.open();
    const stopped = (): boolean => stopping?.stopped === true;
    const guarded = alteredStore(store, {
      transaction: (unit) => {
        stopping?.beforeTransaction?.();
        return stopped() ? Promise.reject(new Stopped()) : store.transaction(unit);
      },
      read: (query) => (stopped() ? Promise.reject(new Stopped()) : store.read(query)),
    });
    const service = new PlanLifecycleService({ store: guarded });
    const effects = stopping?.effects ?? FILE_EFFECTS;
    const data = new DataDirectory(this.dataDir);
    try {
      await new PlanExecutor({ store: guarded, service, data, fileEffects: effects }).execute(this.planId);
      return !stopped();
    } catch (error) {
      if (stopped()) return false;
      throw error;
    }
  }

  /** Recovers, as the next command does first; the lease of the stopped process is not waited for. */
  async recover(): Promise<void> {
    await using store = await this.open();
    await store.transaction((tx) => tx.run("UPDATE leases SET expires_at = 0"));
    await recoverLandings({ store, data: new DataDirectory(this.dataDir) });
  }

  /** The record, with the place as it is and as it must be by the record. */
  async outcome(beginning: Tree): Promise<{ entries: string[]; tree: Tree; replayed: Tree }> {
    await using store = await this.open();
    const changes = await planChanges(store, this.planId, 1);
    const entries = changes.map(({ operation, path, step }) => `${step} ${operation} ${path}`);
    return { entries, tree: await this.tree(), replayed: await replay(beginning, changes, new ChangesetStore(store)) };
  }

  tree(): Promise<Tree> {
    return readTree(this.place);
  }

  leftovers(): string[] {
    return readdirSync(this.place).filter((name) => name.startsWith(".cleveragents-"));
  }

  [Symbol.dispose](): void {
    rmSync(this.#home, { recursive: true, force: true });
  }
}
