import { join } from "node:path";
import { expect, test } from "vitest";
import type { OutputOf } from "../app/table/operation-table.ts";
import type { Update } from "./editor-client.ts";
import { tellHistory } from "./session-history.ts";

type Session = OutputOf<"session.show">;
type Turn = Session["turns"][number];
type Decision = NonNullable<Turn["decisions"]>[number];
type Call = Decision["calls"][number];

const DIRECTORY = "/home/me/app";
const COST = { calls: 0, spentUsd: 0, estimatedUsd: 0, assumedUsd: 0, reservedUsd: 0, unpricedCalls: 0 };

/** The instant of a second: what is told follows the order of these. */
const at = (second: number): string => new Date(Date.UTC(2026, 0, 2, 3, 4, second)).toISOString();

const TURN: Turn = {
  turn: 1,
  planId: "P1",
  shared: false,
  request: "Fix it",
  answer: null,
  exchanges: [],
  remarks: [],
  standing: "working",
  phase: "execute",
  state: "processing",
  awaitingInput: null,
  failure: null,
  cancelReason: null,
  changes: { files: [], insertions: 0, deletions: 0 },
  landings: [],
  undoneAt: null,
  actors: { strategy: null, execution: null },
  automationProfile: "manual",
  cost: COST,
  createdAt: at(0),
  updatedAt: at(0),
};
const DECISION: Decision = {
  decisionId: "D1",
  type: "step",
  step: "fix",
  question: "What next?",
  chosen: { description: "Fix it" },
  words: null,
  state: "done",
  at: at(1),
  calls: [],
};
const CALL: Call = {
  callId: "C1",
  tool: "read_file",
  params: { path: "src/a.ts" },
  outcome: "ok",
  error: null,
  startedAt: at(1),
  durationMs: 1,
};
const LANDING: Turn["landings"][number] = {
  resource: "app",
  path: DIRECTORY,
  branch: "main",
  commit: "0123456789",
  previousCommit: null,
  checkedOut: true,
  newBranch: false,
  files: ["a.txt"],
};
const INFO: Update = { sessionUpdate: "session_info_update", title: "Fix it", updatedAt: at(9) };

function historyOf(...turns: Turn[]): Update[] {
  const updates: Update[] = [];
  const session: Session = {
    sessionId: "S1",
    number: 1,
    title: "Fix it",
    state: "working",
    awaitingInput: null,
    project: "local/app",
    directory: DIRECTORY,
    host: "here",
    plans: turns.length,
    lastPlan: "P1",
    cost: COST,
    forkedFrom: null,
    createdAt: at(0),
    toldAt: at(9),
    turns,
    nextSteps: [],
  };
  tellHistory(session, { send: (update) => void updates.push(update) });
  return updates;
}

function callsOf(...calls: Call[]): Update[] {
  const updates = historyOf({ ...TURN, decisions: [{ ...DECISION, calls }] });
  return updates.filter(({ sessionUpdate }) => sessionUpdate === "tool_call");
}

function spoken(by: "user" | "agent", text: string): Update {
  const sessionUpdate = by === "user" ? "user_message_chunk" : "agent_message_chunk";
  return { sessionUpdate, content: { type: "text", text } };
}

const WORKING = spoken("agent", "\n\nAnother process works on it.\n\n");

test("a session without turns is only its title and the time of its last words", () => {
  expect(historyOf()).toEqual([INFO]);
});

test("a turn whose decisions were not loaded tells what the person said and how the turn stands", () => {
  expect(historyOf({ ...TURN, exchanges: [{ request: "Fix it", answer: null, at: at(0) }] })).toEqual([
    spoken("user", "Fix it"),
    WORKING,
    INFO,
  ]);
});

test("the words of the person and of the models come in the order of time, whichever list they are from", () => {
  const turn: Turn = {
    ...TURN,
    exchanges: [
      { request: "Fix it", answer: null, at: at(0) },
      { request: "And test it", answer: null, at: at(6) },
    ],
    remarks: [{ question: null, text: "Use b.txt", at: at(3) }],
    decisions: [
      { ...DECISION, step: null, words: "Tested.", at: at(7) },
      { ...DECISION, step: null, words: "I look.", at: at(1) },
      { ...DECISION, step: null, words: "Taken.", at: at(3) },
    ],
  };
  expect(historyOf(turn)).toEqual([
    spoken("user", "Fix it"),
    spoken("agent", "I look.\n\n"),
    spoken("user", "Use b.txt"),
    spoken("agent", "Taken.\n\n"),
    spoken("user", "And test it"),
    spoken("agent", "Tested.\n\n"),
    WORKING,
    INFO,
  ]);
});

test("a decision without words, or with blank ones, adds no message", () => {
  const silent = { ...DECISION, step: null };
  expect(historyOf({ ...TURN, decisions: [silent, { ...silent, words: " \n" }] })).toEqual([WORKING, INFO]);
});

test("the decided steps are the plan, each by its description or else its name, with where it stands", () => {
  const decisions: Decision[] = [
    { ...DECISION, step: null, chosen: { description: "Not a step" } },
    DECISION,
    { ...DECISION, step: "test", chosen: "in words", state: "running" },
    { ...DECISION, step: "write", chosen: null, state: "failed" },
    { ...DECISION, step: "clean", chosen: { description: 7 }, state: "open" },
    { ...DECISION, step: "ship", chosen: {}, state: "open" },
  ];
  const priority = "medium";
  expect(historyOf({ ...TURN, decisions })).toEqual([
    {
      sessionUpdate: "plan",
      entries: [
        { content: "Fix it", priority, status: "completed" },
        { content: "test", priority, status: "in_progress" },
        { content: "write", priority, status: "pending" },
        { content: "clean", priority, status: "pending" },
        { content: "ship", priority, status: "pending" },
      ],
    },
    WORKING,
    INFO,
  ]);
});

test("a call is shown with the file it is about, as it lies in the user's directory", () => {
  expect(callsOf(CALL)).toEqual([
    {
      sessionUpdate: "tool_call",
      toolCallId: "P1/D1/C1",
      title: "read_file src/a.ts",
      name: "read_file",
      kind: "read",
      status: "completed",
      locations: [{ path: join(DIRECTORY, "src/a.ts") }],
    },
  ]);
});

test("a call with an absolute path names it, and does not offer it to be opened", () => {
  expect(callsOf({ ...CALL, params: { path: "/sandboxes/one/a.ts" } })).toEqual([
    {
      sessionUpdate: "tool_call",
      toolCallId: "P1/D1/C1",
      title: "read_file /sandboxes/one/a.ts",
      name: "read_file",
      kind: "read",
      status: "completed",
    },
  ]);
});

test("a call that failed shows its error, and one that never ended is in progress", () => {
  const failed: Call = { ...CALL, tool: "shell_execute", params: { command: "npm test" }, outcome: "failed" };
  const running: Call = { ...CALL, callId: "C2", tool: "find_files", params: { pattern: "*.ts" }, outcome: "running" };
  const call = { sessionUpdate: "tool_call" } as const;
  expect(callsOf({ ...failed, error: "exit 1" }, running)).toEqual([
    {
      ...call,
      toolCallId: "P1/D1/C1",
      title: "shell_execute npm test",
      name: "shell_execute",
      kind: "execute",
      status: "failed",
      content: [{ type: "content", content: { type: "text", text: "exit 1" } }],
    },
    {
      ...call,
      toolCallId: "P1/D1/C2",
      title: "find_files *.ts",
      name: "find_files",
      kind: "search",
      status: "in_progress",
    },
  ]);
});

test("a call without a path, a command or a pattern is named by its tool alone", () => {
  const about = { ...CALL, tool: "git_status" };
  const params: Call["params"][] = [{}, null, "text", { path: 7 }];
  const titles = callsOf(...params.map((one) => ({ ...about, params: one }))).map((update) =>
    update.sessionUpdate === "tool_call" ? update.title : "",
  );
  expect(titles).toEqual(["git_status", "git_status", "git_status", "git_status"]);
});

const ONE_FILE = { files: [{ resource: "app", path: "a.txt", change: "modified" }], insertions: 2, deletions: 1 };
const DIRECTORY_LANDING = { ...LANDING, branch: null, commit: null };

test.each<[standing: Turn["standing"], facts: Partial<Turn>, expected: string]>([
  ["applied", { landings: [LANDING, { ...LANDING, branch: "docs" }] }, "Applied 1 file (+2 −1) to main, docs."],
  ["applied", { landings: [DIRECTORY_LANDING] }, "Applied 1 file (+2 −1)."],
  ["undone", {}, "Applied 1 file (+2 −1), and undone."],
  ["ready to review", {}, "1 file (+2 −1) changed in the sandbox. `/apply` applies them, `/diff` shows them."],
  ["waiting for you", { awaitingInput: "Which file?" }, "Which file?"],
  ["waiting for you", {}, "The strategy waits for you: `/continue` carries it out."],
  ["stopped", { failure: "the provider refused" }, "Stopped: the provider refused. `/continue` carries on."],
  ["stopped", {}, "Stopped. `/continue` carries on."],
  ["working", {}, "Another process works on it."],
  ["not started", {}, "It has not begun: `/continue` carries it out."],
])("a turn that is %s (with %o) ends with how it stands and what comes next", (standing, facts, expected) => {
  const [end, ...others] = historyOf({ ...TURN, changes: ONE_FILE, standing, ...facts });
  expect([end, others]).toEqual([spoken("agent", `\n\n${expected}\n\n`), [INFO]]);
});

test.each<Turn["standing"]>(["answered", "not chosen", "cancelled"])(
  "a turn that is %s ends without a sentence",
  (standing) => {
    const words = historyOf({ ...TURN, standing }).map((update) =>
      update.sessionUpdate === "agent_message_chunk" && update.content.type === "text" ? update.content.text : "",
    );
    expect(words.join("").trim()).toBe("");
  },
);
