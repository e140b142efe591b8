import { expect, test } from "vitest";
import type { SessionExport } from "./session-export.ts";
import { sessionMarkdown } from "./session-markdown.ts";

type Turn = SessionExport["turns"][number];

const AT = "2026-01-02T03:04:05.000Z";

const COST = { calls: 2, spentUsd: 0.03, estimatedUsd: 0, assumedUsd: 0.0057, reservedUsd: 0, unpricedCalls: 0 };

const LANDING = {
  resource: "shop",
  path: "/home/me/shop",
  branch: "main",
  commit: "c0ffee",
  previousCommit: "beef",
  checkedOut: true,
  newBranch: false,
  files: ["a.ts"],
};

const TURN: Turn = {
  turn: 1,
  planId: "PLAN1",
  shared: false,
  request: "Add a total\nto the page",
  answer: "There is a total now.",
  exchanges: [{ request: "Add a total\nto the page", answer: "There is a total now.", at: AT }],
  remarks: [],
  standing: "applied",
  phase: "apply",
  state: "applied",
  awaitingInput: null,
  failure: null,
  cancelReason: null,
  changes: { files: [{ resource: "shop", path: "a.ts", change: "modified" }], insertions: 1, deletions: 0 },
  landings: [LANDING],
  undoneAt: null,
  actors: { strategy: null, execution: null },
  automationProfile: "manual",
  cost: COST,
  createdAt: AT,
  updatedAt: AT,
  patch: "+total\n",
};

const SESSION: SessionExport["session"] = {
  sessionId: "SESSION1",
  number: 1,
  title: "Add a total",
  state: "applied",
  awaitingInput: null,
  project: "local/shop",
  directory: "/home/me/shop",
  host: "here",
  plans: 1,
  lastPlan: "PLAN1",
  cost: COST,
  forkedFrom: null,
  createdAt: AT,
  toldAt: AT,
};

function page(turns: Turn[], session: Partial<SessionExport["session"]> = {}): string {
  return sessionMarkdown({ schemaVersion: 1, program: "agents 1", session: { ...SESSION, ...session }, turns });
}

/** The words of the page about one turn. */
function turnPage(changed: Partial<Turn>): string {
  const text = page([{ ...TURN, ...changed }]);
  return text.slice(text.indexOf("## 1."));
}

/** Where the turn stands, as its list says. */
function outcome(changed: Partial<Turn>): string | undefined {
  return turnPage(changed).split("\n")[3];
}

test("a session is its facts, then each turn with what was said and the patch", () => {
  expect(page([TURN])).toBe(`# Add a total

- Session SESSION1, applied
- Project local/shop in /home/me/shop
- 1 plan, 2 model calls, $0.0357
- Written by agents 1

## 1. Add a total

- Plan PLAN1, ${AT}
- applied as c0ffee; 1 file changed (+1 −0)
- 2 model calls, $0.0357

> Add a total
> to the page

There is a total now.

\`\`\`diff
+total
\`\`\``);
});

test("a fork names the session that it came from, and the turns that it shares with it", () => {
  const text = page([{ ...TURN, shared: true }], { forkedFrom: "SESSION0", plans: 2 });
  expect(text.split("\n").filter((line) => line.startsWith("- "))).toEqual([
    "- Session SESSION1, applied",
    "- Project local/shop in /home/me/shop",
    "- 2 plans, 2 model calls, $0.0357",
    "- Forked from SESSION0",
    "- Written by agents 1",
    `- Plan PLAN1, ${AT}, before the fork`,
    "- applied as c0ffee; 1 file changed (+1 −0)",
    "- 2 model calls, $0.0357",
  ]);
});

test("a turn without an answer and without changes ends with its request", () => {
  const changes = { files: [], insertions: 0, deletions: 0 };
  const exchanges = [{ request: "Why?", answer: null, at: AT }];
  const standing = "working";
  expect(turnPage({ request: "Why?", exchanges, changes, landings: [], patch: "", standing })).toBe(`## 1. Why?

- Plan PLAN1, ${AT}
- working; 0 files changed (+0 −0)
- 2 model calls, $0.0357

> Why?`);
});

test("what was said on the way stands after the first request, an answer after the question that it answers", () => {
  const exchanges = [
    { request: "Add a total", answer: "Done.", at: AT },
    { request: "And a test", answer: null, at: AT },
  ];
  const remarks = [
    { question: "Which page?", text: "The cart,\nplease", at: AT },
    { question: null, text: "Keep it short", at: AT },
  ];
  const said = turnPage({ exchanges, remarks, patch: "" }).split("\n\n").slice(2);
  expect(said).toEqual([
    "> Add a total",
    "Which page?",
    "> The cart,\n> please",
    "> Keep it short",
    "Done.",
    "> And a test",
  ]);
});

test("a turn says the commits of its changes; a change in a directory has none", () => {
  const directory = { ...LANDING, branch: null, commit: null, previousCommit: null, checkedOut: null, newBranch: null };
  const two = [LANDING, directory, { ...LANDING, commit: "f00d" }];
  expect(outcome({ landings: two })).toBe("- applied as c0ffee, f00d; 1 file changed (+1 −0)");
  expect(outcome({ landings: [directory] })).toBe("- applied; 1 file changed (+1 −0)");
});

test("a turn that was cancelled or that stopped says why", () => {
  expect(outcome({ standing: "cancelled", landings: [], cancelReason: "not needed" })).toBe(
    "- cancelled; 1 file changed (+1 −0); cancelled: not needed",
  );
  expect(outcome({ standing: "stopped", landings: [], failure: "the model is gone" })).toBe(
    "- stopped; 1 file changed (+1 −0); stopped: the model is gone",
  );
});

test("a cost says how many of its calls have no known price", () => {
  const costLine = (cost: Partial<Turn["cost"]>): string | undefined =>
    turnPage({ cost: { ...COST, ...cost } }).split("\n")[4];
  expect(costLine({ calls: 1 })).toBe("- 1 model call, $0.0357");
  expect(costLine({ calls: 3, unpricedCalls: 2 })).toBe("- 3 model calls, $0.0357, 2 of them at an unknown price");
});

test("decisions are listed on one line each, with their step and the outcome of their tool calls", () => {
  const call = { callId: "CALL", tool: "read_file", params: {}, startedAt: AT, durationMs: 1 };
  const decision = { chosen: "yes", words: null, state: "made", at: AT };
  const decisions: Turn["decisions"] = [
    { ...decision, decisionId: "D1", type: "goal", step: null, question: "What to do?\nIn short.", calls: [] },
    {
      ...decision,
      decisionId: "D2",
      type: "tool",
      step: "edit",
      question: "How?",
      calls: [
        { ...call, outcome: "ok", error: null },
        { ...call, tool: "write_file", outcome: "failed", error: "the disk\nis full" },
      ],
    },
  ];
  expect(turnPage({ decisions, patch: "" }).split("### ")[1]).toBe(`Decisions

- D1 goal: What to do?
- D2 tool (edit): How?; read_file ok; write_file the disk is full`);
});

test("a turn in which nothing was decided has no list of decisions", () => {
  expect(turnPage({ decisions: [] })).toBe(turnPage({}));
});

test("a patch that has a fence in it stays in its own block", () => {
  expect(turnPage({ patch: "+````js\n+```\n" }).split("\n\n").at(-1)).toBe("`````diff\n+````js\n+```\n`````");
});
