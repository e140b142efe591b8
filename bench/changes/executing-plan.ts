import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { ChangesetStore } from "../../src/ledger/changesets.ts";
import { monotonicIds, type DecisionId } from "../../src/domain/names/ids.ts";
import { openStore } from "../../src/store/sqlite/open-store.ts";
import { PlanExecutionContext } from "../../src/execution/workspace/plan-execution-context.ts";
import { PlanLifecycleService } from "../../src/plans/plan-lifecycle-service.ts";
import type { Lease } from "../../src/ledger/leases.ts";
import type { Store } from "../../src/store/port.ts";
import { openSandbox } from "../../src/execution/sandbox/sandbox.ts";
import { callTool } from "../../src/execution/tools/tool-pipeline.ts";
import { ONLY_BUILT_IN } from "../../src/execution/tools/tool-set.ts";
import { openWorkspace } from "../../src/execution/workspace/open-workspace.ts";
import type { Workspace } from "../../src/execution/workspace/workspace.ts";
import { insertDecisionAgain } from "../../src/ledger/decisions.ts";
import { ALIAS, target, text } from "./world.ts";

/** A plan that is being executed; each tool call is recorded with its changeset, as in a step. */
export class ExecutingPlan implements AsyncDisposable {
  readonly store: Store;
  readonly #lease: Lease<"execute">;
  readonly #context: PlanExecutionContext;
  readonly #changeset: Awaited<ReturnType<PlanExecutionContext["startChangeset"]>>;
  readonly #workspace: Workspace;
  readonly #decision: DecisionId;

  private constructor(parts: {
    store: Store;
    lease: Lease<"execute">;
    context: PlanExecutionContext;
    changeset: Awaited<ReturnType<PlanExecutionContext["startChangeset"]>>;
    workspace: Workspace;
    decision: DecisionId;
  }) {
    this.store = parts.store;
    this.#lease = parts.lease;
    this.#context = parts.context;
    this.#changeset = parts.changeset;
    this.#workspace = parts.workspace;
    this.#decision = parts.decision;
  }

  static async start(dir: string, origin: string): Promise<ExecutingPlan> {
    await mkdir(dir, { recursive: true });
    const store = await openStore(`sqlite:${join(dir, "ours.db")}`);
    const service = new PlanLifecycleService({ store });
    const definition = { description: "Writes", definitionOfDone: "Written", executionActor: "local/absent" };
    await service.createAction({ name: "local/write", ...definition });
    const { id } = await service.useAction({ action: "local/write" });
    await service.completeStrategize(await service.startStrategize(id));
    await service.executePlan(id);
    const lease = await service.startExecute(id, { ttlMs: 3_600_000 });
    const context = new PlanExecutionContext({ store, plan: id, lease });
    const changesets = new ChangesetStore(store);
    const sandbox = await openSandbox({ directory: join(dir, "sandboxes"), planId: id, attempt: 1 }, target(origin));
    const workspace = openWorkspace({
      sandbox,
      requireConfinement: false,
      context,
      contents: (hash) => changesets.content(hash),
    });
    const decision = await store.transaction((tx) =>
      insertDecisionAgain(tx, monotonicIds(), {
        planId: id,
        attempt: 1,
        type: "prompt_definition",
        phase: "strategize",
        step: undefined,
        question: "What do you want done?",
        chosen: "Written",
        parent: undefined,
        needs: [],
      }),
    );
    const changeset = await context.startChangeset();
    return new ExecutingPlan({ store, lease, context, changeset, workspace, decision });
  }

  async write(path: string, content: string): Promise<void> {
    await this.#call("write_file", { path, content });
  }

  async shell(command: string): Promise<void> {
    await this.#call("shell_execute", { command });
  }

  async #call(tool: string, params: Readonly<Record<string, string>>): Promise<void> {
    const environment = {
      context: this.#context,
      tools: ONLY_BUILT_IN,
      workspaces: new Map([[ALIAS, this.#workspace]]),
      readOnly: false,
      signal: new AbortController().signal,
    };
    await callTool({ tool, params, by: "bench", decision: this.#decision }, environment);
  }

  /** As many writes would have left, without the files. */
  async recordMany(count: number): Promise<void> {
    for (let done = 0; done < count; done += 1_000) {
      await this.#changeset.recordAll(
        Array.from({ length: 1_000 }, (_, index) => ({
          resource: ALIAS,
          path: `before/${done}/${index}.txt`,
          operation: "create" as const,
          after: { content: Buffer.from(text(done, index)), mode: 0o100644 },
          toolInvocation: "bench",
        })),
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#workspace[Symbol.asyncDispose]();
    this.#lease.stop();
    await this.store.close();
  }
}
