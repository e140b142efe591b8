/**
 * Results of validations: one for each state of the files, written under the lease, never changed; and what they let
 * through.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { latestValidations } from "../../ledger/validation-runs.ts";
import { PlanLifecycleService } from "../../plans/plan-lifecycle-service.ts";
import { ProjectService } from "../../catalog/project-service.ts";
import { ResourceService } from "../../catalog/resource-service.ts";
import { StaleLeaseError } from "../../domain/errors/errors.ts";
import { validationGate, type ValidationGate } from "./validation-gate.ts";
import { ValidationService } from "../../catalog/validation-service.ts";
import type { AttachedValidation } from "../../domain/validation/attachment.ts";
import type { Lease } from "../../ledger/leases.ts";
import type { ValidationInput } from "../../domain/validation/validation.ts";
import { tellNothing } from "../../domain/run-event.ts";
import { attachedValidations } from "../../store/tables/validations.ts";
import { ACTION_NAME, actionInput, moveTo } from "../../testing/fixtures.ts";
import { profileAnywhere } from "../../testing/profile-anywhere.ts";
import { TemporaryStore } from "../../testing/temporary-store.ts";
import { validatePlan, type PlanValidation } from "./plan-validation.ts";
import { openSandbox, resetSandbox } from "../sandbox/sandbox.ts";
import { confinementHere } from "../../confinement/availability.ts";
import { fill } from "../testing/trees.ts";
import { UserRepository } from "../testing/user-repository.ts";
import type { ValidationRoot } from "./validation-runner.ts";

let temporary: TemporaryStore;
let user: UserRepository;
let directory: string;
let service: PlanLifecycleService;
let validations: ValidationService;
let lease: Lease<"execute">;

beforeEach(async () => {
  temporary = await TemporaryStore.open("memory");
  user = await UserRepository.make();
  directory = await mkdtemp(join(tmpdir(), "cleveragents-validation-"));
  const { store } = temporary;
  service = new PlanLifecycleService({ store });
  validations = new ValidationService({ store });
  await service.createAction({ ...actionInput(), automationProfile: await profileAnywhere(store) });
  const resources = new ResourceService({ store });
  await resources.addResource({ type: "git-checkout", name: "code", arguments: { path: user.path } });
  const projects = new ProjectService({ store });
  await projects.createProject({ name: "shop", resources: [{ resource: "code", alias: "api" }] });
  const { id } = await service.useAction({ action: ACTION_NAME, projects: ["shop"] });
  lease = (await moveTo(service, id, "execute/processing", { ttlMs: 600_000 })) as Lease<"execute">;
});
afterEach(async () => {
  lease.stop();
  await temporary[Symbol.asyncDispose]();
  await user[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

async function attach(name: string, rest: Partial<ValidationInput>): Promise<void> {
  await validations.addValidation({ name, description: name, ...rest });
  await validations.attach({ resource: "code", validation: name });
}

const attached = (): Promise<AttachedValidation[]> =>
  temporary.store.read((reader) => attachedValidations(reader, lease.plan));
const gate = (): Promise<ValidationGate> => validationGate(temporary.store, lease.plan);

async function root(): Promise<ValidationRoot> {
  const place = { directory, planId: lease.planId, attempt: 1 };
  const target = {
    alias: "api",
    strategy: "git_worktree",
    path: user.path,
    branch: undefined,
    readOnly: false,
  } as const;
  const sandbox = await openSandbox(place, target);
  return { network: false, requireConfinement: false, sandbox, restore: () => resetSandbox(sandbox) };
}

async function validate(more: Partial<PlanValidation>): ReturnType<typeof validatePlan> {
  return validatePlan({
    lease,
    where: "sandbox",
    tree: "1",
    validations: await attached(),
    roots: new Map([["api", await root()]]),
    signal: new AbortController().signal,
    tell: tellNothing,
    ...more,
  });
}

test("other files are another run, the same files the same; all results stay, and the latest run decides", async () => {
  // In the sandbox's own home, which the command and the test both see.
  const flag = join(directory, lease.planId, "1", "api", "home", "flag");
  await attach("tests", { command: 'test ! -e "$HOME/flag"' });
  expect(await gate()).toMatchObject({ ok: false, failures: [{ reason: "not_validated" }] });
  expect(await validate({})).toMatchObject({ run: { number: 1 }, results: [{ passed: true }] });
  expect(await gate()).toEqual({ ok: true });
  await writeFile(flag, "");
  const told: string[] = [];
  await validate({
    tell: (event) => {
      if (event.type === "validation") told.push(`${event.event}${event.recorded ? ", recorded" : ""}`);
    },
  });
  expect(told).toEqual(["passed, recorded"]);
  const merged = await validate({ where: "merged", tree: "2" });
  expect(merged).toMatchObject({ run: { number: 2, where: "merged" }, results: [{ passed: false }] });
  expect(await gate()).toMatchObject({
    ok: false,
    why: "Required validations failed: local/tests (api).",
    failures: [{ validation: "local/tests", resource: "api", reason: "failed" }],
  });
  const rows = await temporary.store.read((reader) =>
    reader.all("SELECT run, passed FROM validation_results ORDER BY run"),
  );
  expect(rows).toEqual([
    { run: 1, passed: 1 },
    { run: 2, passed: 0 },
  ]);
  const events = await temporary.store.read((reader) =>
    reader.all(
      "SELECT type, plan_id FROM events WHERE type IN ('validation.passed', 'validation.failed') ORDER BY sequence",
    ),
  );
  expect(events).toEqual([
    { type: "validation.passed", plan_id: lease.planId },
    { type: "validation.failed", plan_id: lease.planId },
  ]);
});

test("nothing attached lets through, an informational one too; a required one without a result does not", async () => {
  expect(await gate()).toEqual({ ok: true });
  await attach("hint", { mode: "informational", command: "false" });
  expect(await gate()).toEqual({ ok: true });
  await validate({});
  expect(await gate()).toEqual({ ok: true });
  await attach("late", { tool: "git_status" });
  expect(await gate()).toMatchObject({ ok: false, why: "Required validations not run: local/late (api)." });
});

test("one that reaches a resource in several ways is run once; required ones come first, then by name", async () => {
  await attach("zebra", { command: "true" });
  await attach("hint", { mode: "informational", command: "true" });
  await attach("ant", { command: "true" });
  await validations.attach({ resource: "code", validation: "ant", project: "shop" });
  await validations.attach({ resource: "code", validation: "ant", plan: lease.planId });
  expect((await attached()).map(({ validation }) => validation.name)).toEqual([
    "local/ant",
    "local/zebra",
    "local/hint",
  ]);
  const other = await service.useAction({ action: ACTION_NAME });
  expect(await temporary.store.read((reader) => attachedValidations(reader, other))).toEqual([]);
});

test("without the lease nothing is recorded, and an aborted validation has no result", async () => {
  await attach("slow", { command: "sleep 60" });
  const controller = new AbortController();
  const running = validate({ signal: controller.signal });
  setTimeout(() => controller.abort(new Error("stop")), 300);
  await expect(running).rejects.toThrow("stop");
  expect((await temporary.store.read((reader) => latestValidations(reader, lease.plan)))?.results).toEqual([]);
  await service.cancelPlan(lease.planId);
  await attach("quick", { command: "true" });
  const quick = (await attached()).filter(({ validation }) => validation.name === "local/quick");
  await expect(validate({ validations: quick })).rejects.toBeInstanceOf(StaleLeaseError);
  await expect(validate({ validations: quick, tree: "2" })).rejects.toBeInstanceOf(StaleLeaseError);
  expect((await temporary.store.read((reader) => latestValidations(reader, lease.plan)))?.results).toEqual([]);
});

test("what cannot be shown is left out of the output, and of a long one the end is kept", async () => {
  await attach("loud", { command: "seq 1 100000; printf '\\033[31mred\\033[0m\\000\\007 end\\n'" });
  const { results } = await validate({});
  const [result] = results;
  expect(result).toMatchObject({ passed: true, outputCut: true });
  expect(result?.output).toHaveLength(64 * 1024);
  expect(result?.output.endsWith("100000\nred end\n")).toBe(true);
});

test("a tree that cannot be listed any more is put back, and the validation that left it so has failed", async () => {
  await attach("a-bad", { command: "touch \"$(printf 'bad\\377name')\"" });
  await attach("b-good", { tool: "git_status" });
  const { results } = await validate({});
  expect(results).toMatchObject([
    { passed: false, message: expect.stringContaining("not UTF-8") },
    { passed: true, output: "" },
  ]);
});

test("of many who attach one thing at once one does", async () => {
  await validations.addValidation({ name: "tests", description: "x", command: "true" });
  const all = await Promise.allSettled(
    Array.from({ length: 8 }, () => validations.attach({ resource: "code", validation: "tests" })),
  );
  expect(all.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test.skipIf(!((await confinementHere()).kind !== "none"))(
  "a validation sees the dependencies of the checkout, and cannot change them",
  async () => {
    await user.commit({ ".gitignore": "node_modules\n" });
    await fill(user.path, { "node_modules/dep/x": "dep\n" });
    await attach("tests", { command: "grep dep node_modules/dep/x; echo evil > node_modules/dep/x; true" });
    expect(await validate({})).toMatchObject({ results: [{ passed: true, output: expect.stringContaining("dep\n") }] });
    expect(await readFile(join(user.path, "node_modules/dep/x"), "utf8")).toBe("dep\n");
  },
);
