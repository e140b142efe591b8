import { describe, expect, test } from "vitest";
import * as errors from "./errors.ts";
import { nextStep } from "./next-step.ts";
import { AgentsError, type ErrorCode } from "./errors.ts";

/** The codes for a shell, a JSON-RPC client and an HTTP client; a missing code does not compile. */
const MEANINGS = {
  usage: [2, -32602, 400],
  validation: [2, -32602, 422],
  not_found: [3, -32001, 404],
  conflict: [4, -32004, 409],
  already_exists: [4, -32005, 409],
  invalid_transition: [4, -32004, 409],
  stale_lease: [4, -32004, 409],
  decision_phase: [4, -32004, 409],
  stuck: [1, -32008, 422],
  plan: [1, -32008, 409],
  agent_failed: [1, -32008, 422],
  tool_failed: [1, -32008, 422],
  interrupted: [1, -32008, 409],
  timed_out: [1, -32603, 504],
  graph_failed: [1, -32008, 422],
  graph_limit: [1, -32008, 422],
  hook_failed: [1, -32008, 422],
  confinement_missing: [1, -32010, 403],
  policy: [1, -32010, 403],
  guard_refused: [1, -32010, 403],
  approval_needed: [1, -32010, 403],
  contained: [1, -32008, 422],
  git_failed: [1, -32008, 500],
  budget_exceeded: [1, -32010, 402],
  price_unknown: [1, -32009, 422],
  awaiting_input: [5, -32010, 409],
  breaker_open: [1, -32603, 503],
  breaker_full: [1, -32603, 500],
  merge_conflict: [4, -32004, 409],
  constrained: [1, -32008, 422],
  resource_busy: [4, -32004, 409],
  resource_failed: [1, -32008, 500],
  configuration: [1, -32009, 500],
  model_rate_limit: [1, -32603, 503],
  model_overloaded: [1, -32603, 503],
  model_network: [1, -32603, 502],
  model_server: [1, -32603, 502],
  model_authentication: [1, -32009, 502],
  model_unavailable: [1, -32009, 502],
  model_context_too_long: [1, -32008, 422],
  model_refused: [1, -32008, 422],
  model_rejected: [1, -32008, 502],
  model_malformed: [1, -32603, 502],
  model_timeout: [1, -32603, 504],
  model_cancelled: [1, -32008, 409],
  audit_broken: [1, -32603, 500],
  unit_of_work: [1, -32603, 500],
  store_busy: [1, -32603, 503],
  store_full: [1, -32603, 507],
  store_read_only: [1, -32603, 500],
  store_corrupt: [1, -32603, 500],
  store_too_new: [1, -32007, 500],
  store_failed: [1, -32603, 500],
  not_authenticated: [1, -32010, 401],
  not_allowed: [1, -32010, 403],
  wrong_method: [2, -32601, 405],
  request_too_large: [2, -32602, 413],
  wrong_media_type: [2, -32602, 415],
  too_many_attempts: [1, -32010, 429],
  server_busy: [1, -32603, 503],
  internal: [1, -32603, 500],
} as const satisfies Record<ErrorCode, readonly [exit: number, rpc: number, http: number]>;

describe("every code", () => {
  test.each(Object.entries(MEANINGS))("%s means one thing to each kind of caller", (code, [exit, rpc, http]) => {
    const error = new AgentsError(code as ErrorCode, "It failed.");
    expect(error.meaning).toEqual({ exit, rpc, http });
    expect([1, 2, 3, 4, 5]).toContain(error.meaning.exit);
    expect(error.meaning.http).toBeGreaterThanOrEqual(400);
  });
});

describe("every class", () => {
  const issue = { path: "name", message: "is empty" };
  const made: Record<string, { error: AgentsError; code: ErrorCode; kept?: string; detail?: object }> = {
    AgentsError: { error: new AgentsError("internal", "It failed."), code: "internal" },
    UsageError: { error: new errors.UsageError("No such option."), code: "usage" },
    ValidationError: {
      error: new errors.ValidationError("Not valid.", [issue]),
      code: "validation",
      kept: "Nothing was written.",
      detail: { issues: [issue] },
    },
    NotFoundError: {
      error: new errors.NotFoundError("plan", "01X"),
      code: "not_found",
      detail: { kind: "plan", id: "01X" },
    },
    ConflictError: {
      error: new errors.ConflictError("Too late.", { expected: 1, actual: 2 }),
      code: "conflict",
      detail: { expected: 1, actual: 2 },
    },
    StaleLeaseError: { error: new errors.StaleLeaseError("Lost."), code: "stale_lease", kept: "Nothing was written." },
    PlanError: { error: new errors.PlanError("No changeset."), code: "plan", kept: "Nothing was recorded." },
    BudgetError: {
      error: new errors.BudgetError("budget_exceeded", "Too much."),
      code: "budget_exceeded",
      kept: "Nothing was sent; everything recorded before is kept.",
    },
    AwaitingInputError: {
      error: new errors.AwaitingInputError("It waits."),
      code: "awaiting_input",
      kept: "Everything recorded so far is kept.",
    },
    BreakerOpenError: { error: new errors.BreakerOpenError("grep"), code: "breaker_open", detail: { name: "grep" } },
    BreakerFullError: { error: new errors.BreakerFullError(8), code: "breaker_full", detail: { capacity: 8 } },
    DecisionPhaseViolationError: {
      error: new errors.DecisionPhaseViolationError({ type: "strategy_choice", phase: "apply", allowed: ["a"] }),
      code: "decision_phase",
      kept: "Nothing was recorded.",
      detail: { decision_type: "strategy_choice", plan_phase: "apply", allowed_types: ["a"] },
    },
    StuckError: {
      error: new errors.StuckError("It does not get on."),
      code: "stuck",
      kept: "Everything that was done before is recorded.",
    },
    ConfigurationError: { error: new errors.ConfigurationError("Bad file."), code: "configuration" },
    AuditBrokenError: { error: new errors.AuditBrokenError("Broken."), code: "audit_broken" },
    UnitOfWorkError: {
      error: new errors.UnitOfWorkError("It waited."),
      code: "unit_of_work",
      kept: "The unit was rolled back; nothing of it was written.",
    },
    StoreError: { error: new errors.StoreError("store_full", "No space."), code: "store_full" },
  };

  test.each(Object.entries(made))("%s", (name, { error, code, kept, detail }) => {
    expect(error).toBeInstanceOf(AgentsError);
    expect(error).toBeInstanceOf(Error);
    expect({ name: error.name, code: error.code, kept: error.kept, next: error.next }).toEqual({
      name,
      code,
      kept,
      next: [],
    });
    expect(error.detail).toEqual(detail ?? {});
    expect(error.message).toMatch(/\.$/);
    expect(error.stack).toContain(name);
  });

  test("none is missing here", () => {
    const classes = Object.entries(errors).flatMap(([name, value]) =>
      typeof value === "function" && (value === AgentsError || value.prototype instanceof AgentsError) ? [name] : [],
    );
    expect(Object.keys(made).sort()).toEqual(classes.sort());
  });

  test("takes what is kept, what to do next, facts and a cause", () => {
    const cause = new Error("below");
    const extras = { kept: "All of it.", next: [nextStep("plan.list")], detail: { more: true }, cause };
    const every: AgentsError[] = [
      new AgentsError("internal", "It failed.", extras),
      new errors.UsageError("It failed.", extras),
      new errors.ValidationError("It failed.", [], extras),
      new errors.NotFoundError("plan", "01X", extras),
      new errors.ConflictError("It failed.", { expected: 1, actual: 2, code: "already_exists" }, extras),
      new errors.StaleLeaseError("It failed.", extras),
      new errors.PlanError("It failed.", extras),
      new errors.ConfigurationError("It failed.", extras),
      new errors.AuditBrokenError("It failed.", extras),
      new errors.StoreError("store_busy", "It failed.", extras),
    ];
    for (const error of every) {
      expect(error).toMatchObject({ kept: "All of it.", next: [nextStep("plan.list")], detail: { more: true }, cause });
    }
    const conflict = every[4] as errors.ConflictError;
    expect([conflict.code, conflict.expected, conflict.actual]).toEqual(["already_exists", 1, 2]);
    expect("cause" in new errors.UsageError("It failed.")).toBe(false);
  });
});

test("a list of issues names each path once", () => {
  const issues = [
    { path: "name", message: "is empty" },
    { path: "", message: "expected an object" },
  ];
  expect(errors.listIssues(issues)).toBe("name: is empty; expected an object");
});
