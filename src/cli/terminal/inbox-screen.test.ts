import { expect, test } from "vitest";
import type { InboxPlan } from "../../app/queries/inbox.ts";
import type { InboxDetails } from "../../app/queries/inbox-details.ts";
import { coded } from "./gate.ts";
import { filtered, frameOf, inboxLines, type InboxState } from "./inbox-screen.ts";
import { keysIn } from "./keys.ts";
import { width } from "./terminal-text.ts";

const COST = { calls: 1, spentUsd: 0.03, estimatedUsd: 0, assumedUsd: 0, reservedUsd: 0, unpricedCalls: 0 };
const WORDS = { cost: () => "$0.03", spent: () => "$0.03 of $0.50" };
const PLAIN = { format: "plain", columns: 80 } as const;

function plan(number: number, group: InboxPlan["group"], more: Partial<InboxPlan> = {}): InboxPlan {
  const at = "2026-01-01T00:00:00.000Z";
  return {
    planId: `0${number}`,
    number,
    shortId: `0${number}`,
    request: `request ${number}`,
    standing: group === "done" ? "applied" : group === "needs you" ? "waiting for you" : group,
    awaitingInput: null,
    here: true,
    name: "local/x",
    phase: "execute",
    state: "complete",
    action: "local/run",
    project: "local/shop",
    projects: ["local/shop"],
    candidateOf: null,
    chosen: null,
    changedFiles: 2,
    cost: COST,
    elapsed: "00:00:01",
    createdAt: at,
    updatedAt: at,
    group,
    needs: null,
    next: null,
    sameFiles: [],
    ...more,
  };
}

function state(plans: readonly InboxPlan[], more: Partial<InboxState> = {}): InboxState {
  const now = Date.parse("2026-01-01T03:00:00.000Z");
  const none = { details: undefined, filter: "", filtering: false, message: [] };
  return { plans, selected: plans[0]?.planId, ...none, now, ...more };
}

const MANY = [
  plan(1, "needs you", { needs: "Which database:\nreader or writer?" }),
  plan(2, "working", { request: "重新命名 \u001b[2J\u202e everywhere", sameFiles: [3] }),
  plan(3, "working", { here: false, sameFiles: [2] }),
  ...Array.from({ length: 40 }, (_, at) => plan(at + 4, "ready to review", { needs: "a review of 2 files" })),
];

function drawn(of: InboxState, columns: number, rows: number): string[] {
  return inboxLines(of, { columns, rows }, PLAIN, WORDS).map((line) => coded(line));
}

test.each([60, 80, 99, 100, 120, 200])(
  "at %s columns every line fits, and what is selected is on the screen",
  (columns) => {
    for (const rows of [6, 24, 60]) {
      for (const { planId, number } of MANY) {
        const lines = drawn(state(MANY, { selected: planId }), columns, rows);
        expect(lines).toHaveLength(rows);
        expect(Math.max(...lines.map(width))).toBeLessThan(columns);
        expect(lines.filter((line) => line.startsWith("▸"))).toEqual([
          expect.stringMatching(new RegExp(`^▸ +${number} `)),
        ]);
      }
    }
  },
);

test("a row has the request first, what it needs, where, its changes, its cost and its age", () => {
  const [head, group, row] = drawn(state(MANY), 120, 60);
  expect(head).toBe("agents watch · 1 needs you · 2 working · 40 ready to review");
  expect(group).toBe("Needs you");
  const [several] = drawn(state([plan(1, "needs you"), plan(2, "needs you")]), 120, 60);
  expect(several).toBe("agents watch · 2 need you");
  expect(row).toMatch(/^▸ {2}1 {2}request 1 +Which database: reader or writer\? +here +2 files +\$0\.03 +3 h$/);
});

test("two working plans that change one file are marked, and nothing hidden reaches the terminal", () => {
  const text = drawn(state(MANY), 160, 60).join("\n");
  expect(text).toMatch(/2 {2}重新命名 <U\+001B>\[2J<U\+202E> everywhere +⚠ same file as 3/);
  expect(text).toMatch(/3 {2}request 3 +⚠ same file as 2 +local\/shop/);
  expect(text).not.toContain("\u001b");
});

test("without colors none are written; with them each group has one", () => {
  const lines = inboxLines(state(MANY), { columns: 80, rows: 24 }, { format: "rich", columns: 80 }, WORDS);
  expect(coded(lines[1] ?? "")).toBe("\u001b[33mNeeds you\u001b[39m");
});

test("a plan closer: its question with its answers, its steps, what runs now, its words and its cost", () => {
  const details: InboxDetails = {
    planId: "01",
    version: 3,
    request: "request 1",
    question: "Which?",
    alternatives: ["reader", "writer"],
    words: "First\tline\nsecond",
    failure: null,
    steps: [
      { step: "a", description: "Do a", state: "done" },
      { step: "b", description: "Do b", state: "running" },
      { step: "c", description: "Do c", state: "pending" },
    ],
    running: ["edit_file src/a.ts"],
    cost: { ...COST, capUsd: 0.5 },
  };
  const text = drawn(state(MANY, { details }), 60, 40).join("\n");
  for (const part of ["Which?", "2. writer", "✓ a  Do a", "▸ b  Do b", "· c  Do c", "▸ edit_file src/a.ts"])
    expect(text).toContain(part);
  expect(text).toContain("  First  line\n  second");
  expect(text).toContain("$0.03 of $0.50");
  expect(text).toContain("esc back");
});

test("a frame is written over the one before: no line is left of it", () => {
  expect(coded(frameOf(["one", "two"]))).toBe("\u001b[Hone\u001b[K\ntwo\u001b[K\u001b[J");
});

test("the filter takes words of the request, the state and the place", () => {
  const numbers = (filter: string): number[] => filtered(MANY, filter).map(({ number }) => number);
  expect(numbers("EVERYWHERE working")).toEqual([2]);
  expect(numbers("request 3 working")).toEqual([3]);
  expect(numbers("nothing")).toEqual([]);
  expect(drawn(state([], { filter: "nothing" }), 60, 6)[1]).toBe("No plan fits.");
});

test("keys have names, and unknown ones are nothing", () => {
  expect(keysIn("\u001b[A\u001bOBj\r\u0003\u001b[15~é字\u0001\u001b")).toEqual([
    "up",
    "down",
    "j",
    "enter",
    "interrupt",
    "é",
    "字",
    "escape",
  ]);
});
