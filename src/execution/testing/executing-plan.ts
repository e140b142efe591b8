/**
 * A plan that is being executed on a user's repository or directory, with the oracle: base and recorded changes are
 * the sandbox.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ChangesetStore } from "../../ledger/changesets.ts";
import { PlanExecutionContext } from "../workspace/plan-execution-context.ts";
import { PlanLifecycleService } from "../../plans/plan-lifecycle-service.ts";
import type { ChangeEntry } from "../../domain/plan/change-entry.ts";
import type { DecisionId, PlanId } from "../../domain/names/ids.ts";
import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import type { Lease } from "../../ledger/leases.ts";
import type { Store } from "../../store/port.ts";
import type { ToolOutcome } from "../../domain/plan/tool-outcome.ts";
import type { Tell } from "../../domain/run-event.ts";
import { actionInput, planAt } from "../../testing/fixtures.ts";
import { profileAnywhere } from "../../testing/profile-anywhere.ts";
import { TemporaryStore, type StoreKind } from "../../testing/temporary-store.ts";
import { openSandbox, type Sandbox, type SandboxStrategy, type SandboxTarget } from "../sandbox/sandbox.ts";
import { planChanges, type PlanChange } from "../../changes/plan-changes.ts";
import { runToolSteps } from "../steps/step-runner.ts";
import { callTool, tryTool } from "../tools/tool-pipeline.ts";
import { openWorkspace } from "../workspace/open-workspace.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { ONLY_BUILT_IN } from "../tools/tool-set.ts";
import { decided, type PlannedStep } from "./decide.ts";
import { ignoredOf, readTree, replay, type Tree } from "./trees.ts";
import { UserRepository } from "./user-repository.ts";

export const ALIAS = "api";
/** Ignored by git in the user's repository of the tests: no part of a plan. */
const IGNORED = ["ignored", "x.log"];

export class ExecutingPlan implements AsyncDisposable {
  readonly user: UserRepository;
  readonly id: PlanId;
  readonly service: PlanLifecycleService;
  readonly changesets: ChangesetStore;
  /** Where sandboxes are kept. */
  readonly directory: string;
  readonly target: SandboxTarget;
  readonly base: Tree;
  readonly events: string[] = [];
  readonly #temporary: TemporaryStore;
  #lease: Lease<"execute">;

  private constructor(parts: {
    temporary: TemporaryStore;
    service: PlanLifecycleService;
    user: UserRepository;
    id: PlanId;
    lease: Lease<"execute">;
    directory: string;
    target: SandboxTarget;
    base: Tree;
  }) {
    this.#temporary = parts.temporary;
    this.service = parts.service;
    this.user = parts.user;
    this.id = parts.id;
    this.#lease = parts.lease;
    this.directory = parts.directory;
    this.target = parts.target;
    this.base = parts.base;
    this.changesets = new ChangesetStore(parts.temporary.store);
  }

  static async start(
    options: {
      strategy?: SandboxStrategy;
      kind?: StoreKind;
      user?: UserRepository;
      target?: Partial<SandboxTarget>;
      readOnly?: boolean;
    } = {},
  ): Promise<ExecutingPlan> {
    const { strategy = "git_worktree", kind = "memory", user = await UserRepository.make() } = options;
    const temporary = await TemporaryStore.open(kind);
    const service = new PlanLifecycleService({ store: temporary.store });
    const automationProfile = await profileAnywhere(temporary.store);
    await service.createAction({ ...actionInput(), automationProfile, readOnly: options.readOnly ?? false });
    const { id, lease } = await planAt(service, "execute/processing", { ttlMs: 600_000 });
    const directory = await mkdtemp(join(tmpdir(), "cleveragents-sandboxes-"));
    const target = {
      alias: ALIAS,
      strategy,
      path: user.path,
      branch: undefined,
      readOnly: false,
      ...options.target,
    } satisfies SandboxTarget;
    const base = await readTree(user.path, IGNORED);
    return new ExecutingPlan({
      temporary,
      service,
      user,
      id,
      lease: lease as Lease<"execute">,
      directory,
      target,
      base,
    });
  }

  get store(): Store {
    return this.#temporary.store;
  }

  get lease(): Lease<"execute"> {
    return this.#lease;
  }

  get root(): string {
    return join(this.directory, this.id, `${this.#lease.plan.attempt}`, ALIAS, "tree");
  }

  /** Runs the steps; `events` gets what happened to each. */
  async run(waves: readonly (readonly PlannedStep[])[], signal = new AbortController().signal): Promise<void> {
    const tell: Tell = (event) => {
      if ("step" in event) this.events.push(`${event.step} ${event.type.replace("step_", "")}`);
    };
    await using _opened = await runToolSteps({
      lease: this.#lease,
      directory: this.directory,
      targets: [this.target],
      waves: await decided(this.#lease, waves),
      signal,
      tell,
    });
  }

  /** As a new owner would: the lease of the old one is over. */
  async takeOver(): Promise<void> {
    this.#lease.stop();
    await this.store.transaction((tx) => tx.run("UPDATE leases SET expires_at = 0 WHERE plan_id = ?", this.id));
    this.#lease = await this.service.startExecute(this.id, { ttlMs: 600_000 });
  }

  async sandbox(): Promise<Sandbox> {
    return openSandbox({ directory: this.directory, planId: this.id, attempt: this.#lease.plan.attempt }, this.target);
  }

  /** A workspace to call tools in, outside any step; with an open changeset for what a test does to it by hand. */
  async open(): Promise<OpenWorkspace> {
    const context = new PlanExecutionContext({ store: this.store, plan: this.id, lease: this.#lease });
    const opened = await context.startChangeset();
    const contents = (hash: string): Promise<Uint8Array | undefined> => this.changesets.content(hash);
    const workspace = openWorkspace({ sandbox: await this.sandbox(), requireConfinement: false, context, contents });
    return {
      workspace,
      context,
      call: async (tool, params, by = "test", signal = new AbortController().signal) => {
        const request = { tool, params, by, decision: await this.decision(by) };
        const workspaces = new Map([[ALIAS, workspace]]);
        return (
          await callTool(request, {
            context,
            tools: ONLY_BUILT_IN,
            workspaces,
            readOnly: this.#lease.plan.readOnly,
            signal,
          })
        ).output;
      },
      ask: async (tool, params, by = "test") => {
        const request = { tool, params, by, decision: await this.decision(by), forModel: true };
        const workspaces = new Map([[ALIAS, workspace]]);
        const { signal } = new AbortController();
        return tryTool(request, {
          context,
          tools: ONLY_BUILT_IN,
          workspaces,
          readOnly: this.#lease.plan.readOnly,
          signal,
        });
      },
      entries: async () => {
        const entries: ChangeEntry[] = [];
        const ids = (await this.changesets.list(this.id)).map(({ id }) => id).filter((id) => id >= opened.id);
        for (const id of ids) entries.push(...(await this.changesets.entries(id)));
        return entries;
      },
    };
  }

  /** The decision for a step of that name. */
  async decision(by: string): Promise<DecisionId> {
    const [[one] = []] = await decided(this.#lease, [[step(by, "read_file", {})]]);
    if (one === undefined) throw new Error("nothing was decided");
    return one.decision;
  }

  recorded(): Promise<PlanChange[]> {
    return planChanges(this.store, this.id, this.#lease.plan.attempt);
  }

  tree(): Promise<Tree> {
    return readTree(this.root, IGNORED);
  }

  /** The sandbox without what git ignores, but with everything that base and these changes hold. */
  async partOfPlan(entries: readonly ChangeEntry[]): Promise<Tree> {
    const all = await readTree(this.root);
    const held = await this.replayed(entries);
    const ignored = await ignoredOf(this.root, [...all.keys()], join(this.root, "..", "git", "info", "exclude"));
    return new Map([...all].filter(([path]) => held.has(path) || !ignored.has(path)));
  }

  /** The files that base and these changes make. */
  replayed(entries: readonly ChangeEntry[]): Promise<Tree> {
    return replay(this.base, entries, this.changesets);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lease.stop();
    await this.#temporary[Symbol.asyncDispose]();
    await rm(this.directory, { recursive: true, force: true });
    await this.user[Symbol.asyncDispose]();
  }
}

export interface OpenWorkspace {
  readonly workspace: Workspace;
  readonly context: PlanExecutionContext;
  readonly call: (tool: string, params: JsonObject, by?: string, signal?: AbortSignal) => Promise<JsonValue>;
  /** The same call as a model makes it. */
  readonly ask: (tool: string, params: JsonObject, by?: string) => Promise<ToolOutcome>;
  readonly entries: () => Promise<ChangeEntry[]>;
}

export function step(id: string, tool: string, params: JsonObject): PlannedStep {
  return { id, tool, params };
}
