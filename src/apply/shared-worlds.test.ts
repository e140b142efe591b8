/**
 * The worlds between which undo and redo lead, with a toy in place of files: a tree is a row of lines, each as it was
 * or changed, and merges line by line. Thousands of stories in which plans share lines; after each step a line is
 * changed exactly when a plan that changed it is applied, or a person changed it.
 */
import { expect, test } from "vitest";
import type { PlanId } from "../domain/names/ids.ts";
import type { SandboxRecord } from "../ledger/sandbox-records.ts";
import type { PlanChange } from "../changes/plan-changes.ts";
import { seededRandom } from "../testing/random.ts";
import type { Landing } from "../ledger/landing.ts";
import { SharedWorlds, type OtherPlan, type WorldKind } from "./shared-worlds.ts";
import { sized } from "../testing/size.ts";

const STORIES = sized({ quick: 200, normal: 1_000, full: 20_000 });
const SEED = Number(process.env["CLEVERAGENTS_TEST_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));
const LINES = 3;
const NOTHING = "0".repeat(LINES);

interface Toy {
  readonly id: PlanId;
  /** The line that each of its steps changes: step "s0" changes line 0. */
  readonly lines: readonly number[];
  found: string | undefined;
  landed: boolean;
  history: { readonly sequence: number; readonly steps: ReadonlySet<string> }[];
}

const inOf = (plan: Toy): ReadonlySet<string> => plan.history.at(-1)?.steps ?? new Set();
const all = (plan: Toy): Set<string> => new Set(plan.lines.map((line) => `s${line}`));

function changed(lines: Iterable<number>): string {
  const set = new Set(lines);
  return Array.from({ length: LINES }, (_, line) => (set.has(line) ? "1" : "0")).join("");
}

function merged(base: string, ours: string, theirs: string): string {
  return Array.from(base, (was, line) => (ours[line] === was ? theirs[line] : ours[line])).join("");
}

class Story {
  readonly plans: Toy[];
  tree = NOTHING;
  #sequence = 0;

  constructor(plans: readonly (readonly number[])[]) {
    this.plans = plans.map((lines, index) => ({
      id: `P${index}` as PlanId,
      lines,
      found: undefined,
      landed: false,
      history: [],
    }));
  }

  /** The world of `shared-worlds.ts`, in which entries stand for the toy plan they come from. */
  get kind(): WorldKind<string> {
    return {
      merge: async (base, ours, theirs) => merged(base, ours, theirs),
      claim: async ({ entries }, steps) => changed(entries.filter(({ step }) => steps.has(step)).map(lineOf)),
      found: async ({ entries, applied }) => applied?.root ?? changed(entries.map(lineOf)),
      differences: async (a, b) => (a === b ? [] : ["file"]),
    };
  }

  apply(plan: Toy): void {
    const after = merged(NOTHING, this.tree, changed(plan.lines));
    plan.found = after === this.tree ? undefined : this.tree;
    plan.landed = true;
    this.tree = after;
    this.#note(plan, all(plan));
  }

  async move(plan: Toy, to: ReadonlySet<string>): Promise<ReadonlyMap<string, PlanId[]>> {
    const { kind } = this;
    const own = asOther(plan);
    const others = this.plans.filter((other) => other !== plan && other.landed).map(asOther);
    const shared = new SharedWorlds(kind, others, new Set(["file"]));
    const from = own.history.at(-1)?.steps ?? new Set();
    const found = await shared.found(own, ["file"]);
    const worlds = {
      from: merged(NOTHING, found, await kind.claim(own, from, ["file"])),
      to: merged(NOTHING, found, await kind.claim(own, to, ["file"])),
    };
    const both = await shared.brought(worlds, own, ["file"]);
    const held = await shared.holders(both, own, { from, to }, ["file"]);
    this.tree = merged(both.from, this.tree, both.to);
    this.#note(plan, to);
    return held;
  }

  /** Applies, undoes or redoes it, whichever comes next; `part` picks the steps of an undo. */
  async toggle(index: number, part: (step: string) => boolean = () => true): Promise<string> {
    const plan = this.plans[index];
    if (plan === undefined) throw new Error(`no plan ${index}`);
    if (!plan.landed) {
      this.apply(plan);
      return `apply ${index}`;
    }
    const inside = inOf(plan);
    const out = [...inside].filter(part);
    if (out.length === 0) {
      await this.move(plan, all(plan));
      return `redo ${index}`;
    }
    const held = await this.move(plan, new Set([...inside].filter((step) => !out.includes(step))));
    const holding = this.plans.filter((other) => other !== plan && out.some((step) => inOf(other).has(step)));
    const [told, known] = [held.get("file") ?? [], holding.map(({ id }) => id)].map((ids) => ids.toSorted().join(", "));
    if (told !== known)
      throw new Error(`undo ${out.join(", ")} of ${index} names "${told}" as holders, not "${known}"`);
    return `undo ${out.join(", ")} of ${index}`;
  }

  #note(plan: Toy, steps: ReadonlySet<string>): void {
    this.#sequence += 1;
    plan.history.push({ sequence: this.#sequence, steps });
  }
}

function asOther(plan: Toy): OtherPlan {
  const image = (hash: string): { hash: string; mode: number } => ({ hash, mode: 0o100644 });
  const entries = plan.lines.map((line): PlanChange => ({
    step: `s${line}`,
    changesetId: "C" as PlanChange["changesetId"],
    sequence: line,
    resource: "api",
    path: "file",
    operation: "modify",
    fromPath: undefined,
    before: image("0"),
    after: image(`changed ${line}`),
    toolInvocation: undefined,
    decision: undefined,
    at: 0,
  }));
  const applied: Landing | undefined =
    plan.found === undefined
      ? undefined
      : { alias: "api", root: plan.found, git: undefined, files: [], newDirectories: [] };
  return { planId: plan.id, record: {} as SandboxRecord, entries, applied, history: plan.history };
}

function lineOf({ step }: PlanChange): number {
  return Number(step.slice(1));
}

test(`a line is changed as long as a plan that changed it is applied (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  const pick = (size: number): number => Math.trunc(random() * size);
  for (let round = 0; round < STORIES; round += 1) {
    const claims = Array.from({ length: 2 + pick(4) }, () =>
      Array.from({ length: LINES }, (_, line) => line).filter(() => random() < 0.6),
    ).filter((lines) => lines.length > 0);
    const story = new Story(claims);
    const told: string[] = [];
    for (let step = 0; step < 14 && claims.length > 0; step += 1) {
      const index = pick(claims.length);
      told.push(await story.toggle(index, () => random() < 0.7));
      const standing = story.plans.flatMap(({ history }) => [...(history.at(-1)?.steps ?? [])]);
      expect([claims, told, story.tree]).toEqual([
        claims,
        told,
        changed(standing.map((name) => Number(name.slice(1)))),
      ]);
    }
  }
});

test("every story of three plans that changed the same line, up to eight steps", async () => {
  const failed: string[] = [];
  for (let number = 0; number < 3 ** 8 && failed.length < 5; number += 1) {
    const order = Array.from({ length: 8 }, (_, step) => Math.trunc(number / 3 ** step) % 3);
    const story = new Story([[0], [0], [0]]);
    for (const [step, index] of order.entries()) {
      await story.toggle(index);
      const wanted = story.plans.some(({ history }) => (history.at(-1)?.steps.size ?? 0) > 0) ? "100" : "000";
      if (story.tree === wanted) continue;
      failed.push(order.slice(0, step + 1).join(" "));
      break;
    }
  }
  expect(failed).toEqual([]);
});
