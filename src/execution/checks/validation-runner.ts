/**
 * Runs validations on directories, one after another; it knows nothing of plans. Each runs where the work was done
 * and not in a copy: the files that the work needs and git ignores (installed packages, build output) are there, and
 * a copy would lack them or take minutes to make. Files that a validation changes all the same are put back before
 * the next one begins, and its result says so.
 */
import type { CommandNetwork } from "../../confinement/network/command-network.ts";
import { worksInPlace } from "../../domain/resource/resource.ts";
import type { AttachedValidation } from "../../domain/validation/attachment.ts";
import { AgentsError, PlanError } from "../../domain/errors/errors.ts";
import { printable } from "../../domain/text/text.ts";
import type { ValidationResult } from "../../domain/validation/validation-result.ts";
import type { Check } from "../../domain/validation/validation.ts";
import { notInPlaceError } from "../sandbox/in-place-sandbox.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { borrowedBy, failureOf, runShell, workingDirectory } from "../tools/shell.ts";
import { requireSwept } from "../sandbox/swept-tree.ts";
import { changedPaths, takeSnapshot, type Snapshot } from "../workspace/file-listing.ts";
import { perform } from "../tools/tool-pipeline.ts";
import { ONLY_BUILT_IN } from "../tools/tool-set.ts";
import { openWorkspace } from "../workspace/open-workspace.ts";

export interface ValidationRoot {
  /** The tree to run in. The directory around it is ours: commands have their home there. */
  readonly sandbox: Sandbox;
  /** Whether commands may use the network. */
  readonly network: boolean | CommandNetwork;
  /** Whether commands run confined or not at all. */
  readonly requireConfinement: boolean;
  /** Makes the tree again what it was before a validation changed it. */
  readonly restore: () => Promise<void>;
}

export interface ValidationWork {
  readonly validations: readonly AttachedValidation[];
  /** By the alias of the resource. */
  readonly roots: ReadonlyMap<string, ValidationRoot>;
  /** Aborted, the running validation is ended without a result, and no other begins. */
  readonly signal: AbortSignal;
  readonly onStart: (validation: AttachedValidation) => void;
  /** Waited for before the next validation begins. */
  readonly onResult: (result: ValidationResult) => Promise<void> | void;
}

/** How much of an output is kept, and how many names of changed files. */
const OUTPUT_KEPT = 64 * 1024;
const NAMES_KEPT = 200;

export async function runValidations(work: ValidationWork): Promise<ValidationResult[]> {
  const results: ValidationResult[] = [];
  // How each tree was last seen. The first look reads every file; nothing but validations touches it from there on.
  const seen = new Map<string, Snapshot>();
  for (const attached of work.validations) {
    work.signal.throwIfAborted();
    const root = work.roots.get(attached.resource);
    if (root === undefined) throw new PlanError(`There is no directory to validate "${attached.resource}" in.`);
    work.onStart(attached);
    // In place the validation only reads, and changes that appear meanwhile are a person's.
    const inPlace = worksInPlace(root.sandbox);
    const before = inPlace ? undefined : (seen.get(attached.resource) ?? (await takeSnapshot(root.sandbox)));
    seen.delete(attached.resource);
    const { result, after } = await runOne(attached, root, before, work.signal);
    if (after !== undefined) seen.set(attached.resource, after);
    results.push(result);
    await work.onResult(result);
  }
  return results;
}

/** `after` is missing when the tree had to be put back: every file was written again. */
async function runOne(
  { attachment, resource, validation }: AttachedValidation,
  root: ValidationRoot,
  before: Snapshot | undefined,
  signal: AbortSignal,
): Promise<{ result: ValidationResult; after: Snapshot | undefined }> {
  const started = performance.now();
  const verdict = await judge(validation.check, root, signal);
  const durationMs = Math.round(performance.now() - started);
  const { changedFiles, problem, after } = await putBack(root, before);
  const output = printable(verdict.output);
  const result = {
    attachment,
    resource,
    validation: validation.name,
    mode: validation.mode,
    passed: verdict.passed && problem === undefined,
    message: printable(problem ?? verdict.message),
    output: output.slice(-OUTPUT_KEPT),
    outputCut: verdict.cut || output.length > OUTPUT_KEPT,
    changedFiles: changedFiles.slice(0, NAMES_KEPT),
    durationMs,
  };
  return { result, after };
}

interface Verdict {
  readonly passed: boolean;
  readonly message: string;
  readonly output: string;
  readonly cut: boolean;
}

/** One that cannot be run has failed; one that was aborted has no result. */
async function judge(check: Check, root: ValidationRoot, signal: AbortSignal): Promise<Verdict> {
  try {
    const verdict =
      check.kind === "command" ? await runCommand(check, root, signal) : await runTool(check, root.sandbox, signal);
    signal.throwIfAborted();
    return verdict;
  } catch (error) {
    signal.throwIfAborted();
    const message = error instanceof Error ? error.message : String(error);
    return { passed: false, message, output: "", cut: false };
  }
}

async function runCommand(
  { command, cwd, timeoutMs }: Extract<Check, { kind: "command" }>,
  { sandbox, network, requireConfinement }: ValidationRoot,
  signal: AbortSignal,
): Promise<Verdict> {
  const { root } = sandbox;
  if (worksInPlace(sandbox)) throw notInPlaceError("A command", sandbox);
  const { carried } = sandbox;
  const place = { root, cwd: await workingDirectory(root, cwd), readable: borrowedBy(sandbox), carried };
  const limits = { network, requireConfinement, timeoutMs, commands: sandbox.commands };
  const options = { ...place, ...limits, signal } as const;
  const result = await runShell(command, options);
  const failure = failureOf(result, timeoutMs);
  const message = failure === undefined ? "The command succeeded." : `The command ${failure}.`;
  return { passed: failure === undefined, message, output: result.output, cut: result.cut };
}

async function runTool(
  { tool, params }: Extract<Check, { kind: "tool" }>,
  sandbox: Sandbox,
  signal: AbortSignal,
): Promise<Verdict> {
  const recordChanges = (): never => {
    throw new PlanError("A validation changes nothing.");
  };
  const contents = async (): Promise<undefined> => undefined;
  await using workspace = openWorkspace({ sandbox, context: { recordChanges }, contents });
  const environment = {
    tools: ONLY_BUILT_IN,
    workspaces: new Map([[sandbox.alias, workspace]]),
    readOnly: true,
    signal,
  };
  const found = await perform({ tool, params, by: "validation" }, environment);
  const output = typeof found === "string" ? found : JSON.stringify(found, null, 2);
  return { passed: true, message: `${tool} succeeded.`, output, cut: false };
}

interface PutBack {
  readonly changedFiles: readonly string[];
  /** Why the tree could not be listed any more; the validation that left it so has failed. */
  readonly problem: string | undefined;
  readonly after: Snapshot | undefined;
}

async function putBack({ sandbox, restore }: ValidationRoot, before: Snapshot | undefined): Promise<PutBack> {
  if (before === undefined) return { changedFiles: [], problem: undefined, after: undefined };
  try {
    await requireSwept(sandbox.root);
    const after = await takeSnapshot(sandbox, before);
    const changedFiles = changedPaths(before, after);
    if (changedFiles.length === 0) return { changedFiles, problem: undefined, after };
    await restore();
    return { changedFiles, problem: undefined, after: undefined };
  } catch (error) {
    if (!(error instanceof AgentsError)) throw error;
    await restore();
    return { changedFiles: [], problem: error.message, after: undefined };
  }
}
