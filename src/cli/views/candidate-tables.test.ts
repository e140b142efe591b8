import { describe, expect, test } from "vitest";
import type { ComparisonFacts } from "../../app/queries/candidate-facts.ts";
import type { OutputOf } from "../../app/table/operation-table.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { Element } from "../terminal/view.ts";
import { candidatesPicture, comparisonView } from "./candidate-tables.ts";

type Candidate = ComparisonFacts["candidates"][number];
type Output = Extract<OutputOf<"run">, { outcome: "candidates" }>;

const COST = {
  calls: 2,
  spentUsd: 0.25,
  estimatedUsd: 0,
  assumedUsd: 0,
  reservedUsd: 0,
  unpricedCalls: 0,
  capUsd: null,
};

const NO_VALIDATIONS = {
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

const READY: Candidate = {
  candidate: 1,
  planId: "PLAN1",
  actor: "local/coder",
  situation: "ready",
  phase: "execute",
  state: "complete",
  chosen: false,
  changes: { files: 2, insertions: 10, deletions: 3 },
  checked: { outcome: "not_checked", by: null, durationMs: null, why: "no checks" },
  validationSummary: NO_VALIDATIONS,
  obstacle: null,
  error: null,
  question: null,
  answer: null,
  cost: COST,
  tokens: { input: 1_200, cached: 0, output: 34 },
  durationMs: 2_500,
};

const NO_CHANGES = { files: 0, insertions: 0, deletions: 0 };

function candidate(place: number, changed: Partial<Candidate> = {}): Candidate {
  return { ...READY, candidate: place, planId: `PLAN${place}`, ...changed };
}

function comparison(changed: Partial<ComparisonFacts> = {}): ComparisonFacts {
  return {
    groupId: "GROUP",
    description: "add a total",
    definitionOfDone: "there is a total",
    createdAt: "2026-01-02T03:04:05.000Z",
    candidates: [candidate(1), candidate(2)],
    agreement: { same: [], different: [], some: [] },
    verdict: null,
    best: null,
    chosen: null,
    cost: { ...COST, spentUsd: 0.5 },
    nextSteps: [],
    ...changed,
  };
}

function output(changed: Partial<Output> = {}): Output {
  return {
    ...comparison(),
    outcome: "candidates",
    planId: "PLAN1",
    applied: null,
    notApplied: null,
    made: [],
    uncommitted: 0,
    sessionId: null,
    ...changed,
  };
}

/** The part of the comparison with this title; undefined when it is left out. */
function part(title: string, facts: ComparisonFacts): Element | undefined {
  return comparisonView(facts).find((element) => element.title === title);
}

/** The cells of one column, of every candidate. */
function column(title: string, at: number, candidates: Candidate[], best: string | null = null): unknown[] {
  const table = part(title, comparison({ candidates, best }));
  if (table?.kind !== "table") throw new Error(`there is no table ${title}`);
  return table.rows.map((row) => row[at]);
}

describe("the comparison", () => {
  test("plan ids stand above the tables; a candidate without an actor has a dash there", () => {
    const facts = comparison({ candidates: [candidate(1), candidate(2, { actor: null })] });
    expect(part("Candidates (group GROUP)", facts)).toEqual({
      kind: "lines",
      title: "Candidates (group GROUP)",
      lines: ["1  PLAN1  local/coder", "2  PLAN2  -"],
    });
  });

  test("a candidate that cannot be applied is shown as blocked, even when it is the best or the chosen one", () => {
    const candidates = [
      candidate(1, { obstacle: "a check failed", chosen: true }),
      candidate(2),
      candidate(3, { situation: "applied", chosen: true }),
      candidate(4, { situation: "asks" }),
    ];
    expect(column("Comparison", 1, candidates, "PLAN2")).toEqual([
      { text: "blocked", tone: "bad" },
      { text: "ready (best)", tone: "good" },
      { text: "applied (chosen)", tone: "good" },
      { text: "asks", tone: "warn" },
    ]);
  });

  test("the checks say the outcome, and how many of the validations passed where there are any", () => {
    const by = { by: "npm test", durationMs: 10, why: null };
    const validated = { ...NO_VALIDATIONS, attached: 3, total: 3, informationalPassed: 1 };
    const candidates = [
      candidate(1),
      candidate(2, { checked: { outcome: "passed", ...by } }),
      candidate(3, { checked: { outcome: "failed", ...by } }),
      candidate(4, {
        checked: { outcome: "passed", ...by },
        validationSummary: { ...validated, requiredPassed: 2 },
      }),
      candidate(5, {
        checked: { outcome: "failed", ...by },
        validationSummary: { ...validated, requiredPassed: 1, requiredFailed: 1, allRequiredPassed: false },
      }),
    ];
    expect(column("Comparison", 4, candidates)).toEqual([
      { text: "none", tone: "dim" },
      { text: "passed", tone: "good" },
      { text: "failed", tone: "bad" },
      { text: "passed 3/3", tone: "good" },
      { text: "failed 2/3", tone: "bad" },
    ]);
  });

  test("a cost with calls of an unknown price has a question mark", () => {
    const candidates = [candidate(1), candidate(2, { cost: { ...COST, assumedUsd: 0.5, unpricedCalls: 1 } })];
    expect(part("Effort", comparison({ candidates }))).toEqual({
      kind: "table",
      title: "Effort",
      columns: [{ keep: "#" }, "Cost", "Tokens", "Time"],
      rows: [
        ["1", "$0.25", "1,234", "2.5 s"],
        ["2", "$0.75?", "1,234", "2.5 s"],
      ],
      empty: "",
    });
  });
});

describe("below the tables of the comparison", () => {
  test("notes say why a candidate stopped or is blocked, what it asks and answered, each on one line", () => {
    const candidates = [
      candidate(1, { situation: "stopped", error: "the model\n  is gone" }),
      candidate(2, { obstacle: "lint\nfailed" }),
      candidate(3, { situation: "asks", question: "Which\nfile?" }),
      candidate(4, { answer: "It is\n42.", changes: NO_CHANGES }),
      candidate(5, { answer: "Done, see the changes." }),
    ];
    expect(part("Notes", comparison({ candidates }))).toEqual({
      kind: "lines",
      title: "Notes",
      lines: [
        "1 stopped: the model is gone",
        "2 cannot be applied: lint failed",
        "3 asks: Which file?",
        "4 answered: It is 42.",
      ],
    });
  });

  test("candidates of which there is nothing to note have no notes", () => {
    expect(comparisonView(comparison()).map(({ title }) => title)).toEqual([
      "Candidates (group GROUP)",
      "Comparison",
      "Effort",
      "Files",
    ]);
  });

  test("of files that only some candidates changed the first ten are shown, then how many more", () => {
    const some = Array.from({ length: 12 }, (_, at) => ({ path: `${at}.ts`, candidates: [1, 3] }));
    const agreement = { same: ["a.ts"], different: ["b.ts", "c.ts"], some };
    expect(part("Files", comparison({ agreement }))).toEqual({
      kind: "lines",
      title: "Files",
      lines: [
        "the same bytes in all: a.ts",
        "changed differently: b.ts, c.ts",
        ...Array.from({ length: 10 }, (_, at) => `only 1, 3: ${at}.ts`),
        "… and 2 more files of only some",
      ],
    });
  });

  test("the judge's verdict stands last, with its reasons line by line", () => {
    const verdict = {
      judge: "local/judge",
      candidate: 2,
      planId: "PLAN2",
      decisionId: "DECISION",
      reasons: "It is shorter.\nIt has a test.",
    };
    expect(comparisonView(comparison({ verdict })).at(-1)).toEqual({
      kind: "lines",
      title: "local/judge recommends 2",
      lines: ["It is shorter.", "It has a test."],
    });
  });
});

const COSTS = { level: "info", text: "2 candidates, $0.50 in all." };
const REFUSED = { level: "error", text: "Not applied: no candidate can be applied." };
const notApplied = "no candidate can be applied";

describe("the result of a run with candidates", () => {
  test("where the user has still to choose, nothing failed", () => {
    const facts = output();
    expect(candidatesPicture(facts)).toEqual({ view: comparisonView(facts), messages: [COSTS], status: "ok" });
  });

  test("candidates of which none can be applied are a failure, and the reason is said", () => {
    const candidates = [candidate(1, { obstacle: "lint failed" }), candidate(2, { situation: "stopped" })];
    const { messages, status } = candidatesPicture(output({ candidates, notApplied }));
    expect({ messages, status }).toEqual({ messages: [COSTS, REFUSED], status: "error" });
  });

  test.each<[string, Partial<Output>]>([
    ["one was chosen before", { chosen: { planId: "PLAN2", at: "2026-01-02T03:04:05.000Z" } }],
    [
      "all of them only answered",
      { candidates: [1, 2].map((place) => candidate(place, { answer: "It is 42.", changes: NO_CHANGES })) },
    ],
    ["one asks a question", { candidates: [candidate(1), candidate(2, { situation: "asks", question: "Which?" })] }],
    ["a strategy waits for the user", { candidates: [candidate(1), candidate(2, { situation: "strategy" })] }],
  ])("it is not a failure that none was applied when %s", (_when, changed) => {
    const { messages, status } = candidatesPicture(output({ ...changed, notApplied }));
    expect({ messages, status }).toEqual({ messages: [COSTS, REFUSED], status: "ok" });
  });

  test("an answer of one candidate does not excuse another one that changed nothing and said nothing", () => {
    const candidates = [
      candidate(1, { answer: "It is 42.", changes: NO_CHANGES }),
      candidate(2, { changes: NO_CHANGES }),
    ];
    expect(candidatesPicture(output({ candidates, notApplied })).status).toBe("error");
  });
});

const APPLIED: NonNullable<Output["applied"]> = {
  planId: "PLAN1",
  name: "add-a-total",
  phase: "apply",
  state: "applied",
  version: 1,
  attempt: 1,
  action: "local/run",
  project: null,
  projects: [],
  description: "add a total",
  definitionOfDone: "there is a total",
  inputs: {},
  invariants: [],
  actors: { strategy: null, execution: null },
  automationProfile: "manual",
  automation: { profile: "manual", source: "default", readOnly: false },
  applied: true,
  artifacts: 2,
  changes: { insertions: 10, deletions: 3 },
  changesLeft: 0,
  appliedAt: "2026-01-02T03:04:05.000Z",
  landings: [],
  keptFiles: [],
  inPlace: [],
  changedSince: [],
  nextSteps: [nextStep("plan.undo", { plan: "PLAN1" })],
};

test.each([
  [2, "The other one stays unapplied until agents cleanup run."],
  [3, "The other 2 stay unapplied until agents cleanup run."],
])("of %i candidates one is applied, and it is said what becomes of the others", (amount, kept) => {
  const candidates = Array.from({ length: amount }, (_, at) => candidate(at + 1));
  const picture = candidatesPicture(output({ candidates, applied: APPLIED }));
  expect(picture.messages).toEqual([
    { level: "info", text: `${amount} candidates, $0.50 in all.` },
    { level: "info", text: "Plan PLAN1 is applied: 2 files (+10 −3)." },
    { level: "info", text: kept },
  ]);
  expect(picture.next).toEqual([nextStep("plan.undo", { plan: "PLAN1" })]);
});
