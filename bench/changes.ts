/**
 * What recording costs: a file written through the tool pipeline, with its bytes and its author durable, beside a bare write and
 * fsync of the same bytes; a sandbox beside `git worktree add`; a plan's diff beside `git diff` of the same change, and its apply
 * beside `git merge`. Ours and the peer's run in turn, on the same disk, with the same files. And whether a change costs more once
 * many are recorded.
 */
import { execFile } from "node:child_process";
import { mkdir, open, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import {
  ActorService,
  ChangesetStore,
  monotonicIds,
  openStore,
  PlanApplier,
  PlanExecutionContext,
  PlanExecutor,
  PlanLifecycleService,
  ProjectService,
  ResourceService,
  type DecisionId,
  type Lease,
  type PlanId,
  type Store,
} from "../src/index.ts";
import { diffChanges } from "../src/execution/plan-diff.ts";
import type { PlanChange } from "../src/execution/step-runner.ts";
import { insertDecision } from "../src/ledger/decisions.ts";
import { openSandbox, type SandboxTarget } from "../src/execution/sandbox.ts";
import { callTool } from "../src/execution/tool-pipeline.ts";
import { Workspace } from "../src/execution/workspace.ts";
import { fileSystem, grouped, met, parallel, scratchDirectory, summarise, table, timed } from "./measure.ts";

const ALIAS = "api";

export async function run(options: { readonly dir: string; readonly quick: boolean }): Promise<void> {
  await using scratch = await scratchDirectory(options.dir);
  console.log(`files in ${options.dir} (${await fileSystem(options.dir)}), ${await git(scratch.path, "--version")}`);
  const rounds = options.quick ? 5 : 11;
  for (const measure of [writes, growth, sandboxes, diffs, applies, looks]) {
    const dir = join(scratch.path, measure.name);
    await mkdir(dir);
    await measure(dir, rounds);
    await rm(dir, { recursive: true });
  }
}

// --- one write --------------------------------------------------------------------------------------------------------------

const WRITES_PER_ROUND = 400;

/** Both sides write new files of the same bytes, 2 KB each, into one directory per round. */
async function writes(dir: string, rounds: number): Promise<void> {
  await using plan = await ExecutingPlan.start(dir, await repository(dir, 100));
  for (const atOnce of [1, 16]) {
    await compare(rounds, {
      what: `write_file, ${atOnce === 1 ? "one at a time" : `${atOnce} at once`}, ${WRITES_PER_ROUND} files of 2 KB per round`,
      aim: atOnce === 16 ? 2 : undefined,
      unit: { name: "µs a file", perMs: 1_000 / WRITES_PER_ROUND },
      ours: (round) =>
        timed(() =>
          parallel(atOnce, WRITES_PER_ROUND, (index) =>
            plan.write(`${atOnce}/${round}/${index}.txt`, text(round, index)),
          ),
        ),
      peer: {
        name: "write and fsync",
        run: async (round) => {
          const directory = join(dir, "bare", `${atOnce}`, `${round}`);
          await mkdir(directory, { recursive: true });
          return timed(() =>
            parallel(atOnce, WRITES_PER_ROUND, (index) =>
              writeDurably(join(directory, `${index}.txt`), text(round, index)),
            ),
          );
        },
      },
    });
  }
}

async function writeDurably(file: string, content: string): Promise<void> {
  await using handle = await open(file, "w");
  await handle.writeFile(content);
  await handle.sync();
}

// --- many changes before ----------------------------------------------------------------------------------------------------

const FEW = 1_000;
const MANY = 100_000;

/** The same write into changesets that hold few and many entries, each in a store of its own. */
async function growth(dir: string, rounds: number): Promise<void> {
  const origin = await repository(dir, 100);
  await using few = await ExecutingPlan.start(join(dir, "few"), origin);
  await using many = await ExecutingPlan.start(join(dir, "many"), origin);
  await few.recordMany(FEW);
  await many.recordMany(MANY);
  const side = (plan: ExecutingPlan) => (round: number) =>
    timed(() =>
      parallel(16, WRITES_PER_ROUND, (index) => plan.write(`more/${round}/${index}.txt`, text(round, index))),
    );
  await compare(rounds, {
    what: `write_file with ${grouped(MANY)} changes recorded before it, 16 at once`,
    aim: 1.3,
    unit: { name: "µs a file", perMs: 1_000 / WRITES_PER_ROUND },
    ours: side(many),
    peer: { name: `with ${grouped(FEW)}`, run: side(few) },
  });
}

// --- sandboxes --------------------------------------------------------------------------------------------------------------

const AT_ONCE = 8;

async function sandboxes(dir: string, rounds: number): Promise<void> {
  for (const files of [2_000, 10_000]) {
    const origin = await repository(join(dir, `${files}`), files);
    const ids = monotonicIds();
    const make = async (): Promise<string> => {
      const place = { directory: join(dir, "sandboxes"), planId: ids() as PlanId, attempt: 1 };
      return (await openSandbox(place, target(origin))).root;
    };
    await compare(rounds, {
      what: `a sandbox of ${grouped(files)} files`,
      aim: 1.3,
      unit: { name: "ms", perMs: 1 },
      ours: async () => {
        const ms = await timed(make);
        await rm(join(dir, "sandboxes"), { recursive: true });
        return ms;
      },
      peer: {
        name: "git worktree add",
        run: async (round) => {
          const tree = join(dir, `worktree-${round}`);
          const ms = await timed(() => git(origin, "worktree", "add", "--quiet", "--detach", tree));
          await git(origin, "worktree", "remove", "--force", tree);
          return ms;
        },
      },
    });
    const ms = await timed(() => Promise.all(Array.from({ length: AT_ONCE }, make)));
    console.log(`${AT_ONCE} of them made at once, none failed: ${grouped(ms)} ms`);
    await rm(join(dir, "sandboxes"), { recursive: true });
  }
}

// --- diff -------------------------------------------------------------------------------------------------------------------

const CHANGED = 1_000;

/** The peer has both sides as commits of the user's repository, so it reads the same bytes from a pack. */
async function diffs(dir: string, rounds: number): Promise<void> {
  const origin = await repository(dir, CHANGED);
  await using plan = await ExecutingPlan.start(dir, origin);
  const paths = Array.from({ length: CHANGED }, (_, index) => pathOf(index));
  for (const [index, path] of paths.entries()) await plan.write(path, changed(index));
  for (const [index, path] of paths.entries()) await writeFile(join(origin, path), changed(index));
  await git(origin, "commit", "--quiet", "--all", "--message=changed");
  await git(origin, "gc", "--quiet");
  let [ours, theirs] = ["", ""];
  await compare(rounds, {
    what: `the diff of ${grouped(CHANGED)} changed files`,
    aim: 1.5,
    unit: { name: "ms", perMs: 1 },
    ours: () => timed(async () => (ours = await plan.patch())),
    peer: { name: "git diff", run: () => timed(async () => (theirs = await git(origin, "diff", "HEAD~1", "HEAD"))) },
  });
  if (ours.trim() !== theirs.trim()) throw new Error("the two diffs are not the same");
}

function changed(index: number): string {
  return text(0, index).replaceAll("line 7 ", "another line ").concat("one more\n");
}

// --- apply ------------------------------------------------------------------------------------------------------------------

/**
 * Each side has a repository of its own, with the same history. The peer's branch is made in another work tree, so that its files and
 * index are as untouched before the merge as ours are before the apply. What ours does besides: it takes the recorded bytes into the
 * repository, looks at each file it replaces, journals both sides durably, and can be stopped anywhere.
 */
async function applies(dir: string, rounds: number): Promise<void> {
  const [ours, peer] = [
    await repository(join(dir, "ours"), 2 * CHANGED),
    await repository(join(dir, "peer"), 2 * CHANGED),
  ];
  await using store = await openStore(`sqlite:${join(dir, "data", "ours.db")}`);
  await new ResourceService({ store }).addResource({ type: "git-checkout", name: ALIAS, arguments: { path: ours } });
  await new ProjectService({ store }).createProject({ name: "bench", resources: [ALIAS] });
  const author = join(dir, "author");
  await git(peer, "worktree", "add", "--quiet", "--detach", author);
  await compare(rounds, {
    what: `the apply of ${grouped(CHANGED)} changed files in ${grouped(2 * CHANGED)}`,
    aim: 2,
    unit: { name: "ms", perMs: 1 },
    ours: async (round) => {
      const apply = await executedPlan(store, join(dir, "data"), { name: `round-${round}`, command: nextRound(round) });
      return timed(apply);
    },
    peer: {
      name: "git merge --no-ff",
      run: async (round) => {
        await git(author, "checkout", "--quiet", "-B", `round-${round}`, await git(peer, "rev-parse", "HEAD"));
        await promisify(execFile)("sh", ["-c", nextRound(round)], { cwd: author });
        await git(author, "commit", "--quiet", "--all", "--message=changed");
        return timed(() => git(peer, "merge", "--quiet", "--no-ff", "--message=merged", `round-${round}`));
      },
    },
  });
  const [own, theirs] = [await landed(ours), await landed(peer)];
  if (own !== theirs) throw new Error("apply and merge did not lead to the same files");
}

/** In half of the directories each line of each file changes; `text` says in which round it is. */
function nextRound(round: number): string {
  return `sed -i 's/in round .*/in round ${round + 1}/' 0?/*.txt`;
}

/** The tree that HEAD has, once git has found the work tree to be the same. */
async function landed(repositoryPath: string): Promise<string> {
  const status = await git(repositoryPath, "status", "--porcelain");
  if (status !== "") throw new Error(`the work tree is not what was committed: ${status.slice(0, 200)}`);
  return git(repositoryPath, "rev-parse", "HEAD^{tree}");
}

/** A plan that ran the command and is ready to be applied by the function returned. */
async function executedPlan(
  store: Store,
  data: string,
  { name, command }: { readonly name: string; readonly command: string },
): Promise<() => Promise<unknown>> {
  const service = new PlanLifecycleService({ store });
  const steps = [{ id: "change", tool: "shell_execute", params: { command } }];
  await new ActorService({ store }).addActor({ name, type: "tool", description: "Changes", steps });
  const definition = { description: "Change", definitionOfDone: "Changed", executionActor: `local/${name}` };
  await service.createAction({ name, ...definition });
  const { id } = await service.useAction({ action: name, projects: ["bench"] });
  await new PlanExecutor({ store, service, directory: join(data, "sandboxes") }).execute(id);
  return () => new PlanApplier({ store, service, directory: data }).apply(id);
}

// --- looks ------------------------------------------------------------------------------------------------------------------

/** No aim was set for these; a command costs two looks, and what it changed is recorded with the bytes from before. */
async function looks(dir: string, rounds: number): Promise<void> {
  const origin = await repository(dir, 20_000);
  await using plan = await ExecutingPlan.start(dir, origin);
  const first = await timed(() => plan.shell("true"));
  const again: number[] = [];
  for (let round = 0; round < rounds; round += 1) again.push(await timed(() => plan.shell("true")));
  const many = await timed(() => plan.shell("for d in 00 01 02 03 04 05 06 07 08 09; do sed -i s/7/8/ $d/*; done"));
  console.log("\na command in a sandbox of 20,000 files, ms");
  console.log(
    table([
      ["first, everything is read", grouped(first)],
      ["later, changes nothing", grouped(summarise(again).median)],
      ["one that changes 1,000 files", grouped(many)],
    ]),
  );
}

// --- shared -----------------------------------------------------------------------------------------------------------------

interface Comparison {
  readonly what: string;
  /** At most that many times the peer's time; undefined: no aim was set. */
  readonly aim: number | undefined;
  readonly unit: { readonly name: string; readonly perMs: number };
  /** Milliseconds of one round. */
  readonly ours: (round: number) => Promise<number>;
  readonly peer: { readonly name: string; readonly run: (round: number) => Promise<number> };
}

/** In turn, so that the machine's moods hit both alike; round 0 warms up. Which of the two is first changes each round. */
async function compare(rounds: number, { what, aim, unit, ours, peer }: Comparison): Promise<void> {
  const samples = { ours: [] as number[], peer: [] as number[] };
  for (let round = 0; round <= rounds; round += 1) {
    const ms = { ours: 0, peer: 0 };
    for (const side of round % 2 === 0 ? (["ours", "peer"] as const) : (["peer", "ours"] as const))
      ms[side] = await (side === "ours" ? ours(round) : peer.run(round));
    if (round === 0) continue;
    samples.ours.push(ms.ours * unit.perMs);
    samples.peer.push(ms.peer * unit.perMs);
  }
  const row = (name: string, values: readonly number[]): string[] => {
    const { median, lowest, highest } = summarise(values);
    return [name, median.toFixed(0), `${lowest.toFixed(0)} – ${highest.toFixed(0)}`];
  };
  const ratio = summarise(samples.ours).median / summarise(samples.peer).median;
  console.log(`\n${what}, ${rounds} rounds in turn`);
  console.log(
    table([["", `${unit.name} (median)`, "lowest – highest"], row("ours", samples.ours), row(peer.name, samples.peer)]),
  );
  const verdict = aim === undefined ? "no aim was set" : `aim ≤ ${aim}×: ${met(ratio <= aim)}`;
  console.log(`${ratio.toFixed(2)}× ${peer.name}; ${verdict}`);
}

/** A plan that is being executed; each tool call is recorded with its changeset, as in a step. */
class ExecutingPlan implements AsyncDisposable {
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
    const definition = { description: "Writes", definitionOfDone: "Written", executionActor: "local/nobody" };
    await service.createAction({ name: "local/write", ...definition });
    const { id } = await service.useAction({ action: "local/write" });
    await service.completeStrategize(await service.startStrategize(id));
    await service.executePlan(id);
    const lease = await service.startExecute(id, { ttlMs: 3_600_000 });
    const context = new PlanExecutionContext({ store, plan: id, lease });
    const changesets = new ChangesetStore(store);
    const sandbox = await openSandbox({ directory: join(dir, "sandboxes"), planId: id, attempt: 1 }, target(origin));
    const workspace = new Workspace({ sandbox, context, contents: (hash) => changesets.content(hash) });
    const decision = await store.transaction((tx) =>
      insertDecision(tx, monotonicIds(), {
        planId: id,
        attempt: 1,
        type: "prompt_definition",
        phase: "strategize",
        step: undefined,
        question: "What is to become true?",
        chosen: "Written",
        parent: undefined,
        needs: [],
      }),
    );
    const changeset = await context.startChangeset();
    return new ExecutingPlan({ store, lease, context, changeset, workspace, decision });
  }

  /** As `plan diff` makes it. */
  async patch(): Promise<string> {
    const changesets = new ChangesetStore(this.store);
    const changes: PlanChange[] = [];
    for (const { id } of await changesets.list(this.#lease.planId))
      for (const entry of await changesets.entries(id)) changes.push({ ...entry, step: "bench" });
    return (await diffChanges(changesets, changes)).patch;
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

function target(path: string): SandboxTarget {
  return { alias: ALIAS, strategy: "git_worktree", path, branch: undefined, readOnly: false };
}

async function repository(dir: string, files: number): Promise<string> {
  const path = join(dir, "origin");
  for (let index = 0; index < files; index += 1) {
    const file = join(path, pathOf(index));
    if (index % 100 === 0) await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text(0, index));
  }
  await git(path, "init", "--quiet");
  for (const [key, value] of [
    ["user.name", "Bench"],
    ["user.email", "bench@example.org"],
    ["gc.auto", "0"],
  ] as const)
    await git(path, "config", key, value);
  await writeFile(join(path, ".gitignore"), "*.log\nbuild/\nnode_modules/\n");
  await git(path, "add", "--all");
  await git(path, "commit", "--quiet", "--message=first");
  await git(path, "gc", "--quiet");
  return path;
}

function pathOf(index: number): string {
  return `${String(Math.trunc(index / 100)).padStart(2, "0")}/${index}.txt`;
}

/** About 2 KB, different for each file. */
function text(round: number, index: number): string {
  return Array.from({ length: 60 }, (_, line) => `line ${line} of file ${index} in round ${round}\n`).join("");
}

async function git(cwd: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("git", args, { cwd, maxBuffer: 1e9 });
  return stdout.trimEnd();
}
