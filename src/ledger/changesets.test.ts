/**
 * The durable side of changesets: what is refused and why, and what comes back. The scopes are tested with the context.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ChangesetStore } from "./changesets.ts";
import { NotFoundError, PlanError } from "../domain/errors/errors.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import type { ChangeEntryInput } from "../domain/plan/change-entry.ts";
import type { ChangesetId, PlanId } from "../domain/names/ids.ts";
import type { Store } from "../store/port.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { actionInput, created, planAt } from "../testing/fixtures.ts";
import { RACE_KINDS, TemporaryStore } from "../testing/temporary-store.ts";

const UNKNOWN = "0".repeat(26);
const HASH = "a".repeat(64);

describe.each(RACE_KINDS)("on a %s store", (kind) => {
  const clock = new FakeClock();
  let temporary: TemporaryStore;
  let store: Store;
  let changesets: ChangesetStore;
  let id: PlanId;

  beforeAll(async () => {
    temporary = await TemporaryStore.open(kind, { clock: clock.now });
    store = temporary.store;
    changesets = new ChangesetStore(store);
    const service = new PlanLifecycleService({ store, clock: clock.now });
    await service.createAction(actionInput());
    ({ id } = await planAt(service, "strategize/queued"));
  });
  afterAll(() => temporary[Symbol.asyncDispose]());

  test("a changeset belongs to a plan that exists", async () => {
    await expect(changesets.start(UNKNOWN as PlanId)).rejects.toBeInstanceOf(NotFoundError);
    expect(await changesets.get(UNKNOWN as ChangesetId)).toBeUndefined();
    expect(await changesets.entries(UNKNOWN as ChangesetId)).toEqual([]);
  });

  test("recording into or closing one that is not there says so", async () => {
    const unknown = UNKNOWN as ChangesetId;
    await expect(changesets.record(unknown, created("a"))).rejects.toThrow(`There is no changeset ${UNKNOWN}.`);
    await expect(changesets.close(unknown)).rejects.toBeInstanceOf(PlanError);
  });

  test("one is listed with its count, when it was opened and closed", async () => {
    const opened = clock.now();
    const first = await changesets.start(id);
    const second = await changesets.start(id);
    clock.advance(5);
    await changesets.record(second, created("a"));
    await changesets.close(second);
    const common = { planId: id, epoch: undefined, openedAt: opened };
    expect(await changesets.list(id)).toEqual([
      { ...common, id: first, entryCount: 0, closedAt: undefined },
      { ...common, id: second, entryCount: 1, closedAt: opened + 5 },
    ]);
    expect(await changesets.get(second)).toEqual((await changesets.list(id))[1]);
    await expect(changesets.close(second)).rejects.toThrow(`The changeset ${second} is closed.`);
  });

  test("several are recorded in their order, all or none of them", async () => {
    const changeset = await changesets.start(id);
    const large = { content: Buffer.alloc(300_000, "x"), mode: 0o100644 };
    const inputs: ChangeEntryInput[] = [
      { ...created("a"), after: large },
      { ...created("b"), after: { content: Buffer.from("small"), mode: 0o100644 } },
      created("c"),
    ];
    const recorded = await changesets.recordAll(changeset, inputs);
    expect(recorded.map(({ path, sequence }) => [path, sequence])).toEqual([
      ["a", 1],
      ["b", 2],
      ["c", 3],
    ]);
    await expect(changesets.recordAll(changeset, [created("d"), created("../e")])).rejects.toThrow("not valid");
    expect(await changesets.entries(changeset)).toEqual(recorded);
    await changesets.close(changeset);
    await expect(changesets.recordAll(changeset, [created("f")])).rejects.toThrow("is closed");
  });

  test("every kind of change comes back as it was recorded", async () => {
    const changeset = await changesets.start(id);
    const image = (mode: number) => ({ hash: HASH, mode });
    const inputs: ChangeEntryInput[] = [
      { resource: "api", path: "new.ts", operation: "create", after: image(0o100644) },
      { resource: "api", path: "run.sh", operation: "modify", before: image(0o100644), after: image(0o100755) },
      { resource: "api", path: "gone", operation: "delete", before: image(0o120000) },
      {
        resource: "web",
        path: "b/ü 🙂.ts",
        fromPath: "a/ü 🙂.ts",
        operation: "rename",
        before: image(0o100644),
        after: image(0o100644),
        toolInvocation: "call-1",
        decision: "decision-1",
      },
      { resource: "web", path: "m", operation: "mode", before: image(0o100644), after: image(0o100755) },
    ];
    const recorded = [];
    for (const input of inputs) recorded.push(await changesets.record(changeset, input));
    const nothing = {
      fromPath: undefined,
      before: undefined,
      after: undefined,
      toolInvocation: undefined,
      decision: undefined,
    };
    const expected = inputs.map((input, index) => ({
      ...nothing,
      ...input,
      changesetId: changeset,
      sequence: index + 1,
      at: clock.now(),
    }));
    expect(recorded).toEqual(expected);
    expect(await changesets.entries(changeset)).toEqual(expected);
  });
});
