import { expect, test } from "vitest";
import type { OutputOf } from "../app/table/operation-table.ts";
import { AgentsError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { SessionOutcome } from "./editor-conversation.ts";
import {
  checkpointsText,
  errorText,
  outcomeText,
  plansText,
  questionText,
  statusText,
  undoneText,
  type Spell,
} from "./editor-words.ts";

const spell: Spell = (step) => ("text" in step ? step.text : `/${step.operation}`);

const AT = "2026-01-02T03:04:05.000Z";
const PLAN: Omit<Extract<OutputOf<"tell">, { outcome: "told" }>, "outcome" | "ran" | "nextSteps" | "sessionId"> = {
  planId: "01PLAN",
  name: "local/fix",
  phase: "execute",
  state: "complete",
  version: 1,
  attempt: 1,
  action: "local/run",
  project: null,
  projects: [],
  description: "Fix it",
  definitionOfDone: "It is fixed.",
  inputs: {},
  invariants: [],
  actors: { strategy: null, execution: null },
  automationProfile: "manual",
  automation: { profile: "manual", source: "global", readOnly: false },
};
const COST = { calls: 1, spentUsd: 0.25, estimatedUsd: 0, assumedUsd: 0, reservedUsd: 0, unpricedCalls: 0 };
const VALIDATIONS = {
  attached: 0,
  where: null,
  run: null,
  total: 0,
  requiredPassed: 0,
  requiredFailed: 0,
  informationalPassed: 0,
  informationalFailed: 0,
  allRequiredPassed: true,
  blocking: [],
};
const LANDING = {
  resource: "app",
  path: "/home/me/app",
  branch: "main",
  commit: "0123456789abcdef",
  previousCommit: null,
  checkedOut: true,
  newBranch: false,
  files: ["a.txt", "b.txt"],
};
const CHANGES = { files: 2, insertions: 3, deletions: 1 };
const APPLIED = {
  applied: true as const,
  artifacts: 2,
  changes: { insertions: 3, deletions: 1 },
  changesLeft: 0,
  appliedAt: AT,
  landings: [LANDING],
  keptFiles: [],
  inPlace: [],
  changedSince: [],
  nextSteps: [],
};

type Executed = Extract<OutputOf<"session.resume">, { outcome: "executed"; applied?: false | undefined }>;

const EXECUTED: Executed = {
  ...PLAN,
  sessionId: "01SESSION",
  outcome: "executed",
  ran: true,
  inPlace: [],
  confinement: { kind: "none", required: false, finding: "" },
  sandboxes: [],
  steps: [],
  hooks: [],
  changes: CHANGES,
  answer: "It is fixed.",
  checked: { outcome: "passed", by: "npm test", durationMs: 1, why: null },
  keptFiles: [],
  cost: { ...COST, capUsd: null },
  leftOut: [],
  validations: [],
  validationSummary: VALIDATIONS,
  obstacle: null,
  nextSteps: [],
};
const KEPT = "2 files (+3 −1) changed in the sandbox; your files are as they were.";
const HINT = "`/apply` applies them, `/diff` shows them.";

test("an apply that was carried on is told as applied, and one that was not agreed to as waiting", () => {
  const applied = { ...PLAN, ...APPLIED, sessionId: "01SESSION" };
  expect(outcomeText(applied, "")).toBe("Applied.");
  expect(outcomeText({ applied: false, sessionId: "01SESSION" }, "")).toBe("Nothing was applied; the plan waits.");
});

test("a plan that another process works on or will work on hears the words at its next step", () => {
  const about = { ...PLAN, ran: false, nextSteps: [], sessionId: "01SESSION" } as const;
  const heard = "Another process works on the plan and hears this at its next step.";
  expect(outcomeText({ ...about, outcome: "told" }, "")).toBe(heard);
  expect(outcomeText({ ...about, outcome: "queued", workers: 1, made: [], uncommitted: 0 }, "")).toBe(heard);
});

test("candidates are left to the command line", () => {
  const outcome: SessionOutcome = {
    groupId: "G",
    description: "Fix it",
    definitionOfDone: "",
    createdAt: AT,
    candidates: [],
    agreement: { same: [], different: [], some: [] },
    verdict: null,
    best: null,
    chosen: null,
    cost: { ...COST, capUsd: null },
    nextSteps: [],
    outcome: "candidates",
    planId: "01PLAN",
    applied: null,
    notApplied: null,
    made: [],
    uncommitted: 0,
    sessionId: null,
  };
  expect(outcomeText(outcome, "")).toBe("The candidates wait; `agents plan compare` shows them.");
});

test("a strategy that waits says how to change it and how to carry it out", () => {
  const outcome: SessionOutcome = {
    ...PLAN,
    outcome: "strategy",
    ran: false,
    strategy: null,
    assessment: { confidence: 1, factors: {}, explanation: "" },
    nextSteps: [],
    sessionId: "01SESSION",
  };
  expect(outcomeText(outcome, "")).toBe(
    "Nothing was carried out; the plan waits. Say what should be different, or `/continue` to carry it out.",
  );
});

test("an answer is said once: not again when the user heard it while the model spoke", () => {
  const unchanged: Executed = { ...EXECUTED, changes: { files: 0, insertions: 0, deletions: 0 } };
  expect(outcomeText(unchanged, "")).toBe("It is fixed.\n\n");
  expect(outcomeText(unchanged, "I looked. It is fixed.\n")).toBe("");
  expect(outcomeText({ ...unchanged, answer: null }, "")).toBe("Nothing was changed.");
});

test("changes that were kept back are told with their check and with the commands that take and show them", () => {
  expect(outcomeText(EXECUTED, "")).toBe(`It is fixed.\n\n${KEPT} ${HINT} Checked: npm test passed.`);
  const one: Executed = { ...EXECUTED, answer: null, applied: false, changes: { ...CHANGES, files: 1 } };
  expect(outcomeText(one, "")).toBe(`${KEPT.replace("2 files", "1 file")} ${HINT} Checked: npm test passed.`);
});

test("changes that cannot be applied say why, and do not offer to apply them", () => {
  const checked = { outcome: "not_checked", by: null, durationMs: null, why: "no check is known" } as const;
  const blocked: Executed = { ...EXECUTED, answer: null, checked, obstacle: "The hook refused them." };
  expect(outcomeText(blocked, "")).toBe(`${KEPT} Not checked: no check is known. The hook refused them.`);
});

test("applied changes name each branch with its short commit, and a plain directory not at all", () => {
  const applied = { ...EXECUTED, ...APPLIED, changes: CHANGES, answer: null };
  const directory = { ...LANDING, branch: null, commit: null };
  const other = { ...LANDING, branch: "docs", commit: "fedcba9876543210" };
  const undo = "`/undo` takes them out again. Checked: npm test passed.";
  expect(outcomeText({ ...applied, landings: [LANDING, directory, other] }, "")).toBe(
    `Applied 2 files (+3 −1) to main (commit 0123456789), docs (commit fedcba9876). ${undo}`,
  );
  expect(outcomeText({ ...applied, landings: [directory] }, "")).toBe(`Applied 2 files (+3 −1). ${undo}`);
});

test("what was undone and redone is counted over all places and names their commits", () => {
  const directory = { branch: null, commit: null, files: ["c.txt"] };
  expect(undoneText("Undone", { landings: [LANDING, directory] })).toBe("Undone: 3 files to main (commit 0123456789).");
  expect(undoneText("Redone", { landings: [directory] })).toBe("Redone: 1 file.");
  expect(undoneText("Undone", { landings: [{ ...LANDING, commit: null }] })).toBe("Undone: 2 files.");
});

const STATUS: OutputOf<"plan.status"> = {
  ...PLAN,
  standing: "ready to review",
  inPlace: [],
  reversions: 0,
  progress: [],
  phaseDurationsMs: { strategize: null, execute: null, apply: null },
  timing: { started: AT, elapsed: "1 s" },
  owner: null,
  abandonedBy: null,
  awaitingInput: null,
  execution: { stepsRecorded: 0, changesets: 0, changes: 0 },
  cost: { ...COST, capUsd: null, today: { ...COST, capUsd: null, date: "2026-01-02" } },
  effort: null,
  usage: {
    modelCalls: 1,
    failedCalls: 0,
    inputTokens: 0,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 0,
    costUsd: 0.25,
    callsWithoutPrice: 0,
  },
  validationSummary: VALIDATIONS,
  obstacle: null,
  confined: null,
  confinement: null,
  cancelReason: null,
  newBranches: [],
  undoneAt: null,
  undoneSteps: [],
  stepActors: [],
  candidateOf: null,
  error: null,
  nextSteps: [],
};

test("a status without limit, question, error or next step is its request, its state and its cost", () => {
  expect(statusText(STATUS, spell).split("\n\n")).toEqual([
    "**Fix it**",
    "plan 01PLAN: execute/complete",
    "1 model call, $0.2500",
  ]);
});

test("a status shows the limit, the open question with its alternatives, the error and every next step", () => {
  const status: OutputOf<"plan.status"> = {
    ...STATUS,
    description: "Fix it\nwith care",
    undoneAt: AT,
    cost: { ...STATUS.cost, calls: 2, assumedUsd: 0.5, capUsd: 2 },
    awaitingInput: {
      question: "Which file?",
      alternatives: ["a.txt", "b.txt"],
      phase: "execute",
      confidence: null,
      factors: null,
      explanation: null,
      askedAt: AT,
    },
    error: { message: "The provider refused.", category: "model", recoverable: true },
    nextSteps: [nextStep("plan.apply"), { text: "git rebase --continue" }],
  };
  expect(statusText(status, spell).split("\n\n")).toEqual([
    "**Fix it**",
    "plan 01PLAN: execute/complete, undone",
    "2 model calls, $0.7500 of $2.00",
    "It asks: Which file?\n1. a.txt\n2. b.txt",
    "It stopped: The provider refused.",
    "next: `/plan.apply`",
    "next: `git rebase --continue`",
  ]);
});

test("a question without alternatives is the question alone", () => {
  expect(questionText({ question: "Why?", alternatives: [] })).toBe("Why?");
});

const LISTED: OutputOf<"plan.list">["plans"][number] = {
  planId: "01PLAN",
  number: 1,
  shortId: "PLAN",
  request: "Fix it",
  standing: "ready to review",
  awaitingInput: null,
  here: true,
  name: "local/fix",
  phase: "execute",
  state: "complete",
  action: "local/run",
  project: null,
  projects: [],
  candidateOf: null,
  chosen: null,
  changedFiles: 0,
  cost: COST,
  elapsed: "1 s",
  createdAt: AT,
  updatedAt: AT,
};

function listOf(...plans: OutputOf<"plan.list">["plans"]): OutputOf<"plan.list"> {
  const filters = { phase: null, state: null, project: null, action: null, regex: null };
  const states = { queued: 0, processing: 0, completed: 0, constrained: 0, errored: 0, cancelled: 0 };
  return { plans, filters, summary: { total: plans.length, shown: plans.length, ...states } };
}

test("the list of no plans says so, without an empty table", () => {
  expect(plansText(listOf())).toBe("There is no plan yet.");
});

test("a name in the table of plans cannot break its row: one line, bars escaped, at most 100 characters", () => {
  const asking = { ...LISTED, shortId: "ASKS", name: `a|b${"x".repeat(200)}\nsecond`, awaitingInput: "Which?" };
  expect(plansText(listOf(LISTED, asking)).split("\n")).toEqual([
    "| plan | request | state |",
    "|---|---|---|",
    "| PLAN | local/fix | execute/complete |",
    `| ASKS | a\\|b${"x".repeat(96)} | execute/complete, asks you |`,
  ]);
});

test("each checkpoint is shown with the command that goes back to it and the step that it follows", () => {
  const about = { planId: "01PLAN", attempt: 1, nextSteps: [] };
  const checkpoint = { id: "c1", afterStep: null, at: AT, changes: 0, files: [] };
  expect(checkpointsText({ ...about, checkpoints: [] })).toBe("The plan has no checkpoint yet.");
  const checkpoints = [checkpoint, { ...checkpoint, id: "c2", afterStep: "fix", files: ["a.txt", "b.txt"] }];
  expect(checkpointsText({ ...about, checkpoints })).toBe(
    "- `/rollback c1`: before all steps (0 files)\n- `/rollback c2`: fix (2 files)",
  );
});

test("an error is its problem, the things that were kept where something was, and each next step", () => {
  const next = [nextStep("plan.list"), { text: "free some space" }];
  expect(errorText(new AgentsError("store_full", "The disk is full.", { kept: "Nothing is lost.", next }), spell)).toBe(
    "**Error:** The disk is full.\n\nNothing is lost.\n\nnext: `/plan.list`\n\nnext: `free some space`",
  );
  expect(errorText(new AgentsError("store_full", "The disk is full."), spell)).toBe("**Error:** The disk is full.");
});
