/** Stored values come back unchanged: every field of every record, with any text. */
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ACTOR_ROLES, parseAction } from "../domain/action/action.ts";
import { ChangesetStore } from "../ledger/changesets.ts";
import { PlanLifecycleService } from "./plan-lifecycle-service.ts";
import { PROFILE_NAMES } from "../domain/profile/automation-profile.ts";
import { ProjectService } from "../catalog/project-service.ts";
import type { ArgumentType } from "../domain/action/arguments.ts";
import type { ChangeEntryInput, FileImage } from "../domain/plan/change-entry.ts";
import type { Store } from "../store/port.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { actionInput, perform, planAt } from "../testing/fixtures.ts";
import { STORE_KINDS, TemporaryStore } from "../testing/temporary-store.ts";
import { lineProblem } from "../domain/text/text.ts";
import { sized } from "../testing/size.ts";

const RUNS = sized({ quick: 15, normal: 60, full: 2_000 });

/** Anything Unicode that may be stored: emoji, combining marks, right-to-left, line breaks; no control characters. */
const anyText = fc
  .oneof(
    fc.string({ unit: "grapheme", maxLength: 60 }),
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.constantFrom(
      "🧑‍🚀 naïve 日本語 עִבְרִית",
      "'; DROP TABLE plans; --",
      '"\\n"\n\t\r%_?',
      "\u2028\u2029\ufeff",
      "x".repeat(65_536),
    ),
  )
  // oxlint-disable-next-line no-control-regex -- exactly the characters no text may hold
  .map((text) => text.toWellFormed().replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, ""));
/** Braces are left out: they are the templates of another test. */
const plainText = anyText.map((text) => text.replaceAll(/[{}]/g, "")).filter((text) => text.trim() !== "");
/** For names and descriptions of one line, in which two that look alike must be alike. */
const lineText = anyText.filter((text) => lineProblem(text) === undefined);
const plainLine = plainText.filter((text) => lineProblem(text) === undefined);
const part = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,20}$/);
const namespace = part.filter(
  (text) =>
    !/^(system|internal|admin|root|openai|anthropic|google|gemini|deepseek|mistral|perplexity|qwen|amazon)$/i.test(
      text,
    ),
);
const ownName = fc
  .tuple(fc.option(part), namespace, part)
  .map(([server, space, name]) => `${server === null ? "" : `${server}:`}${space}/${name}`);
const actor = fc.oneof(
  part.map((name) => `local/${name}`),
  ownName,
);
const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (number === 0 ? 0 : number));

type GivenValue = string | number | boolean | string[];
const value: Readonly<Record<ArgumentType, fc.Arbitrary<GivenValue>>> = {
  string: anyText,
  integer: fc.maxSafeInteger(),
  float: finite,
  boolean: fc.boolean(),
  list: fc.array(anyText, { maxLength: 4 }),
};
const argument = fc.constantFrom<ArgumentType[]>("string", "integer", "float", "boolean", "list").chain((type) =>
  fc.record(
    {
      name: part,
      type: fc.constant(type),
      required: fc.boolean(),
      description: lineText,
      default: value[type],
    },
    { requiredKeys: ["name", "type"] },
  ),
);
/** Bounds and pattern are only stored here; they allow every value. */
const bounded = fc.constantFrom(
  { name: "bounded-text", type: "string", min: 0, max: 1e9, pattern: "[^]*" } as const,
  { name: "bounded-list", type: "list", min: 0, max: 10, pattern: "[^]*" } as const,
  { name: "bounded-float", type: "float", min: -1.5e308, max: 1e-7 } as const,
);
const argumentList = fc
  .tuple(fc.uniqueArray(argument, { maxLength: 4, selector: ({ name }) => name }), fc.option(bounded))
  .map(([list, extra]) => (extra === null ? list : [...list, extra]));

const action = fc.record(
  {
    name: ownName,
    description: plainLine,
    longDescription: plainText,
    strategyActor: actor,
    executionActor: actor,
    definitionOfDone: plainText,
    arguments: argumentList,
    invariants: fc.array(plainText, { maxLength: 4 }),
    automationProfile: fc.constantFrom(...PROFILE_NAMES),
    reusable: fc.boolean(),
    readOnly: fc.boolean(),
  },
  { requiredKeys: ["name", "description", "executionActor", "definitionOfDone"] },
);

const image: fc.Arbitrary<FileImage> = fc.record({
  hash: fc.stringMatching(/^[0-9a-f]{64}$/),
  mode: fc.constantFrom(0o100644, 0o100755, 0o120000),
});
const path = fc
  .array(
    anyText
      .map((text) =>
        text
          .replaceAll(/[\n\r\t/\\:]/g, "")
          .slice(0, 100)
          .toWellFormed(),
      )
      .filter(
        (text) => text !== "" && text !== "." && text !== ".." && text.normalize("NFKC").toLowerCase() !== ".git",
      ),
    { minLength: 1, maxLength: 4 },
  )
  .map((segments) => segments.join("/"));
const reference = fc.option(
  plainLine.map((text) => text.slice(0, 100).toWellFormed()),
  { nil: undefined },
);
const change: fc.Arbitrary<ChangeEntryInput> = fc
  .record({
    resource: part,
    path,
    fromPath: path,
    operation: fc.constantFrom("create", "modify", "delete", "rename", "mode"),
    before: image,
    after: image,
    toolInvocation: reference,
    decision: reference,
  })
  .map((all) => ({
    ...all,
    fromPath: all.operation === "rename" ? all.fromPath : undefined,
    before: all.operation === "create" ? undefined : all.before,
    after: all.operation === "delete" ? undefined : all.after,
  }));

describe.each(STORE_KINDS)("on a %s store", (kind) => {
  const clock = new FakeClock();
  let temporary: TemporaryStore;
  let store: Store;
  let service: PlanLifecycleService;
  let number = 0;

  beforeAll(async () => {
    temporary = await TemporaryStore.open(kind, { clock: clock.now });
    store = temporary.store;
    service = new PlanLifecycleService({ store, clock: clock.now });
    await service.createAction(actionInput());
  });
  afterAll(() => temporary[Symbol.asyncDispose]());

  /** A name of its own for every run of a property, shrunk ones too; the given one stays part of it. */
  function unique(name: string): string {
    number += 1;
    return `${name}-${number}`;
  }

  test("actions", async () => {
    await fc.assert(
      fc.asyncProperty(action, async (input) => {
        clock.advance(1);
        const own = { ...input, name: unique(input.name) };
        const made = await service.createAction(own);
        expect(made).toEqual({
          ...parseAction(own),
          state: "available",
          version: 1,
          createdAt: clock.now(),
          updatedAt: clock.now(),
        });
        expect(await service.getAction(own.name)).toEqual(made);
        const archived = await service.archiveAction(own.name);
        expect(await service.getAction(own.name)).toEqual(archived);
        expect(archived).toEqual({ ...made, state: "archived", version: 2 });
      }),
      { numRuns: RUNS },
    );
  });

  test("minus zero comes back as it was returned", async () => {
    const zero = { name: "zero", type: "float", default: "-0" } as const;
    const made = await service.createAction({ ...actionInput("local/zero"), arguments: [zero] });
    expect(await service.getAction("local/zero")).toEqual(made);
    const plan = await service.useAction({ action: "local/zero", arguments: { zero: "-0.0" } });
    expect(await service.getPlan(plan.id)).toEqual(plan);
  });

  test("projects", async () => {
    const projects = new ProjectService({ store, clock: clock.now });
    await fc.assert(
      fc.asyncProperty(ownName, fc.option(lineText, { nil: undefined }), async (name, description) => {
        const made = await projects.createProject({ name: unique(name), description });
        expect(await projects.getProject(made.name)).toEqual({ ...made, plans: 0, activePlans: 0 });
        expect(made).toMatchObject({ description, version: 1, createdAt: clock.now() });
      }),
      { numRuns: RUNS },
    );
  });

  test("plans: arguments, actors, links, profile, and everything they take over from the action", async () => {
    const projects = new ProjectService({ store, clock: clock.now });
    const given = action.chain((input) =>
      fc.record({
        input: fc.constant(input),
        values: fc.record(
          Object.fromEntries(
            (input.arguments ?? []).map((spec) => {
              const arbitrary = spec.name.startsWith("bounded-float")
                ? fc.constantFrom<GivenValue[]>(-1e-300, 1e-7, -1.5e308)
                : value[spec.type ?? "string"];
              return [
                spec.name,
                "required" in spec && spec.required ? arbitrary : fc.option(arbitrary, { nil: undefined }),
              ];
            }),
          ),
        ),
        actors: fc.record(Object.fromEntries(ACTOR_ROLES.map((role) => [role, fc.option(actor, { nil: undefined })]))),
        links: fc.uniqueArray(fc.record({ alias: part, readOnly: fc.boolean() }), {
          maxLength: 3,
          selector: ({ alias }) => alias,
        }),
        profile: fc.option(fc.constantFrom(...PROFILE_NAMES), { nil: undefined }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(given, async ({ input, values, actors, links, profile }) => {
        clock.advance(1);
        const own = await service.createAction({ ...input, name: unique(input.name) });
        const linked = [];
        for (const link of links) {
          linked.push({ ...link, project: (await projects.createProject({ name: unique("local/p") })).name });
        }
        const plan = await service.useAction({
          action: own.name,
          arguments: values,
          actors,
          projects: linked,
          automationProfile: profile,
        });
        expect(await service.getPlan(plan.id)).toEqual(plan);
        expect(plan).toMatchObject({
          action: own.name,
          description: own.description,
          definitionOfDone: own.definitionOfDone,
          invariants: own.invariants,
          readOnly: own.readOnly,
          projects: linked,
          createdAt: clock.now(),
        });
        for (const spec of own.arguments)
          expect(plan.arguments.get(spec.name)).toEqual(values[spec.name] ?? spec.default);
        for (const role of ACTOR_ROLES) expect(plan.actors[role]).toBe(actors[role] ?? own.actors[role]);
      }),
      { numRuns: RUNS },
    );
  });

  test("failures and reasons", async () => {
    const category = fc.constantFrom("transient", "strategy" as const);
    await fc.assert(
      fc.asyncProperty(plainText, category, plainText, async (message, category, reason) => {
        const { id } = await planAt(service, "execute/queued");
        const lease = await service.startExecute(id, { holder: reason });
        expect(lease.holder).toBe(reason);
        await service.failExecute(lease, { message, category });
        const expected = {
          position: 1,
          phase: "execute",
          attempt: 1,
          kind: "errored",
          message,
          category,
          at: clock.now(),
        };
        expect(await service.listFailures(id)).toEqual([expected]);
        await service.cancelPlan(id, { reason });
        expect((await service.getPlan(id)).cancelReason).toBe(reason);
      }),
      { numRuns: RUNS },
    );
  });

  test("change entries", async () => {
    const changesets = new ChangesetStore(store);
    const { id } = await planAt(service, "strategize/queued");
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 5 }), async (inputs) => {
        const changeset = await changesets.start(id);
        const recorded = [];
        for (const input of inputs) recorded.push(await changesets.record(changeset, input));
        expect(await changesets.entries(changeset)).toEqual(recorded);
        expect(recorded).toEqual(
          inputs.map((input, index) => ({ ...input, changesetId: changeset, sequence: index + 1, at: clock.now() })),
        );
      }),
      { numRuns: RUNS },
    );
  });

  test("a plan after each step of its life is what the service returned", async () => {
    const { id } = await planAt(service, "strategize/queued");
    const lease = await service.startStrategize(id);
    expect(await service.getPlan(id)).toEqual(lease.plan);
    for (const operation of ["completeStrategize", "executePlan", "revertPlan", "cancelPlan"] as const) {
      expect(await perform(service, { operation, planId: id, lease })).toEqual(await service.getPlan(id));
    }
  });
});
