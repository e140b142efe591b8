import { join } from "node:path";
import { expect, test } from "vitest";
import type { ModelEvent, RunEvent, SandboxEvent, ToolEvent } from "../domain/run-event.ts";
import type { Update } from "./editor-client.ts";
import { kindOf, RunUpdates } from "./run-updates.ts";

type Told =
  | { readonly say: string }
  | { readonly think: string }
  | { readonly notice: readonly [level: "info" | "warning", text: string] }
  | { readonly send: Update };

interface Watched {
  readonly updates: RunUpdates;
  /** Everything that the editor was told, in order. */
  readonly told: Told[];
  readonly plans: string[];
}

function watched(...events: readonly RunEvent[]): Watched {
  const told: Told[] = [];
  const plans: string[] = [];
  const updates = new RunUpdates({
    client: {
      send: (update) => void told.push({ send: update }),
      say: (text) => void told.push({ say: text }),
      think: (text) => void told.push({ think: text }),
      notice: (level, text) => void told.push({ notice: [level, text] }),
    },
    windowOf: (model) => (model === "openai/large" ? 200_000 : 0),
    spentBefore: () => 500_000,
    onPlan: (plan) => void plans.push(plan),
  });
  for (const event of events) updates.tell(event);
  return { updates, told, plans };
}

const STARTED: RunEvent = { type: "run_started", plan: "P1", models: [], spent: 20_000, cap: undefined };
const SANDBOX: SandboxEvent = {
  type: "sandbox",
  resource: "app",
  strategy: "git_worktree",
  root: "/sandboxes/one",
  place: "/home/me/app",
  ref: "main",
  base: undefined,
  dirty: false,
  fresh: true,
};
const OTHER_SANDBOX: SandboxEvent = { ...SANDBOX, resource: "docs", root: "/sandboxes/two", place: "/home/me/docs" };
const FIX = { step: "fix", tool: undefined, description: "Fix it" };
const READ: Extract<ToolEvent, { type: "tool_started" }> = {
  type: "tool_started",
  step: "fix",
  key: "k",
  tool: "read_file",
  target: "a.txt",
};

function said({ told }: Watched): string {
  return told.map((one) => ("say" in one ? one.say : "")).join("");
}

function sent({ told }: Watched): Update[] {
  return told.flatMap((one) => ("send" in one ? [one.send] : []));
}

function text(step: string, words: string): RunEvent {
  return { type: "text", step, text: words };
}

function answered(step: string, more: { readonly model?: string; readonly cost?: number } = {}): ModelEvent {
  return {
    type: "ask_answered",
    step,
    key: "k",
    model: { provider: "openai", model: more.model ?? "large" },
    inputTokens: 1_000,
    cachedTokens: 900,
    outputTokens: 50,
    cost: more.cost,
    durationMs: 10,
    toolCalls: 0,
  };
}

test("a plan that was made is named to the session, and the things made for it are told in one thought", () => {
  const made = { type: "plan_made", plan: "P1", project: "local/app" } as const;
  const told = watched({ ...made, made: ["project local/app", "resource app"] }, { ...made, plan: "P2", made: [] });
  expect(told.plans).toEqual(["P1", "P2"]);
  expect(told.told).toEqual([{ think: "Made project local/app, resource app.\n" }]);
});

test("the models are told when a run asks others than the run before it, and not while they stay the same", () => {
  const models = ["openai/large", "openai/small"];
  const told = watched({ ...STARTED, models }, { ...STARTED, models }, STARTED, { ...STARTED, models: ["openai/x"] });
  expect(told.told).toEqual([{ think: "Asking openai/large, openai/small.\n" }, { think: "Asking openai/x.\n" }]);
  expect(told.plans).toEqual(["P1", "P1", "P1", "P1"]);
});

test("a decided strategy is told as a numbered list, and one known before only as the plan", () => {
  const steps = [
    { step: "fix", description: "Fix it" },
    { step: "test", description: "Test it" },
  ];
  const pending = { status: "pending", priority: "medium" } as const;
  const plan = {
    send: {
      sessionUpdate: "plan",
      entries: [
        { content: "Fix it", ...pending },
        { content: "Test it", ...pending },
      ],
    },
  };
  expect(watched({ type: "decided", before: false, steps }).told).toEqual([{ think: "1. Fix it\n2. Test it\n" }, plan]);
  expect(watched({ type: "decided", before: true, steps }).told).toEqual([plan]);
});

test("a step that failed is told with the user's own paths, and is pending again in the plan", () => {
  const error = "/sandboxes/one/a.txt is missing";
  const told = watched(
    SANDBOX,
    { type: "step_started", ...FIX },
    { type: "step_failed", durationMs: 1, error, ...FIX },
    { type: "step_recorded", ...FIX },
  );
  const plan = (status: "in_progress" | "pending" | "completed") => ({
    send: { sessionUpdate: "plan", entries: [{ content: "Fix it", status, priority: "medium" }] },
  });
  expect(told.told).toEqual([
    plan("in_progress"),
    { notice: ["warning", "Step fix failed: /home/me/app/a.txt is missing"] },
    plan("pending"),
    plan("completed"),
  ]);
});

test("a checklist is shown below its step while the step is worked on, and no longer once it is done", () => {
  const told = watched(
    {
      type: "checklist",
      step: "fix",
      items: [
        { text: "look", state: "done" },
        { text: "write", state: "doing" },
        { text: "try", state: "open" },
      ],
    },
    { type: "step_done", durationMs: 1, ...FIX },
  );
  const low = { priority: "low" } as const;
  expect(sent(told)).toEqual([
    {
      sessionUpdate: "plan",
      entries: [
        { content: "fix", status: "in_progress", priority: "medium" },
        { content: "– look", status: "completed", ...low },
        { content: "– write", status: "in_progress", ...low },
        { content: "– try", status: "pending", ...low },
      ],
    },
    { sessionUpdate: "plan", entries: [{ content: "fix", status: "completed", priority: "medium" }] },
  ]);
});

test("of two steps that speak at once the first is heard as it speaks, and the other once the first has ended", () => {
  const told = watched(text("a", "one "), text("b", "three"), text("b", " four"), text("a", "two"));
  expect(said(told)).toBe("one two");
  expect(told.updates.answered).toBe("one two");
  told.updates.tell(answered("a"));
  expect(said(told)).toBe("one two\n\nthree four");
  expect(told.updates.answered).toBe("three four");
});

test("a step that ends while another speaks does not end the words of the speaker", () => {
  const told = watched(text("a", "one "), text("b", "other"), answered("b"), text("a", "two"));
  expect(said(told)).toBe("one two");
});

test("thoughts are shown while no step speaks and from the step that speaks, not from beside it", () => {
  const thought = (step: string): RunEvent => ({ type: "thought", step, text: `${step} thinks` });
  const told = watched(thought("b"), text("a", "words"), thought("a"), thought("b"));
  expect(told.told).toEqual([{ think: "b thinks" }, { say: "words" }, { think: "a thinks" }]);
});

test("when the connection breaks under the speaker, the user reads that the answer begins again", () => {
  const told = watched(text("a", "half an"), { type: "text_void", step: "a" });
  expect(told.updates.answered).toBe("");
  told.updates.tell(text("a", "whole"));
  expect(said(told)).toBe("half an\n\n(The connection broke; the answer begins again.)\n\nwhole");
  expect(told.updates.answered).toBe("whole");
});

test("words that became void before they were heard are never said", () => {
  const told = watched(text("a", "one"), text("b", "void"), { type: "text_void", step: "b" }, answered("a"));
  expect(said(told)).toBe("one\n\n");
});

test("a call that waits and one that failed are told as thoughts, with the wait rounded up to whole seconds", () => {
  const about = { step: "fix", key: "k" };
  const told = watched(
    { type: "context_assembled", step: "fix", tokens: 10, files: 1 },
    { type: "ask_started", ...about, model: { provider: "openai", model: "large" } },
    { type: "ask_waits", ...about, why: "rate limited", delayMs: 1_200, next: 2, most: 5 },
    text("fix", "half"),
    { type: "ask_failed", ...about, error: "The provider refused." },
  );
  expect(told.told).toEqual([
    { think: "rate limited, again in 2 s.\n" },
    { say: "half" },
    { say: "\n\n" },
    { think: "The provider refused.\n" },
  ]);
});

test("the cost is that of the session's other plans, of the plan before, and of each call whose price is known", () => {
  const told = watched(STARTED, answered("fix", { cost: 30_000 }), answered("fix", { model: "small" }));
  const usage = { sessionUpdate: "usage_update", used: 1_050, cost: { amount: 0.55, currency: "USD" } } as const;
  expect(sent(told)).toEqual([
    { ...usage, size: 200_000 },
    { ...usage, size: 0 },
  ]);
});

test("a tool call that failed shows its error with the user's own paths, and one that succeeded shows none", () => {
  const { type: _, ...about } = READ;
  const ended = { type: "tool_ended", durationMs: 1, ...about } as const;
  const told = watched(STARTED, SANDBOX, ended, { ...ended, error: "no such file: /sandboxes/one/a.txt" });
  const update = { sessionUpdate: "tool_call_update", toolCallId: "P1/fix/k" };
  expect(sent(told)).toEqual([
    { ...update, status: "completed" },
    {
      ...update,
      status: "failed",
      content: [{ type: "content", content: { type: "text", text: "no such file: /home/me/app/a.txt" } }],
    },
  ]);
});

test("a tool call without a target is named by the tool alone, and a tool of unknown kind is of the kind other", () => {
  const told = watched(STARTED, { ...READ, tool: "acme/deploy", target: "" });
  expect(sent(told)).toEqual([
    {
      sessionUpdate: "tool_call",
      status: "in_progress",
      toolCallId: "P1/fix/k",
      title: "acme/deploy",
      name: "acme/deploy",
      kind: "other",
      locations: [],
    },
  ]);
  expect([kindOf("move_file"), kindOf("web_fetch")]).toEqual(["move", "fetch"]);
});

test.each<[what: string, sandboxes: RunEvent[], call: Partial<typeof READ>, expected: readonly string[]]>([
  ["a relative path in the only sandbox", [SANDBOX], { path: "src/a.ts" }, ["/home/me/app/src/a.ts"]],
  ["an absolute path in the only sandbox", [SANDBOX], { path: "/sandboxes/one/a.ts" }, ["/home/me/app/a.ts"]],
  ["a path outside of the sandbox", [SANDBOX], { path: "/etc/hosts" }, []],
  ["a relative path that leaves the sandbox", [SANDBOX], { path: "../two/a.ts" }, []],
  ["a path before there is a sandbox", [], { path: "a.ts" }, []],
  ["a path in one of several sandboxes, not said which", [SANDBOX, OTHER_SANDBOX], { path: "a.ts" }, []],
  [
    "a path in the named one of several sandboxes",
    [SANDBOX, OTHER_SANDBOX],
    { path: "a.md", resource: "docs" },
    ["/home/me/docs/a.md"],
  ],
  ["a path in a resource that is not known", [SANDBOX], { path: "a.ts", resource: "web" }, []],
  ["a call without a path", [SANDBOX], {}, []],
])("the editor may open, for %s, only files of the user's checkout", (_what, sandboxes, call, expected) => {
  const locations = sent(watched(...sandboxes, { ...READ, ...call })).map((update) =>
    update.sessionUpdate === "tool_call" ? update.locations : undefined,
  );
  expect(locations).toEqual([expected.map((path) => ({ path: join(path) }))]);
});

test("a hook is one call from its start to its end, and a result of an earlier run comes as a new call", () => {
  const hook = { type: "hook", resource: "app", hook: "pre-commit", durationMs: 1 } as const;
  const told = watched(
    STARTED,
    { ...hook, event: "started" },
    { ...hook, event: "failed" },
    { ...hook, hook: "commit-msg", event: "recorded" },
  );
  const update = (name: string) => ({
    toolCallId: `P1/check/app/${name}`,
    title: `check: ${name} (app)`,
    kind: "execute",
  });
  expect(sent(told)).toEqual([
    { sessionUpdate: "tool_call", ...update("pre-commit"), status: "in_progress" },
    { sessionUpdate: "tool_call_update", ...update("pre-commit"), status: "failed" },
    { sessionUpdate: "tool_call", ...update("commit-msg"), status: "completed" },
  ]);
});

test("a validation is shown under its own name, and started again it is a new call", () => {
  const about = { type: "validation", resource: "app", validation: "tests", where: "sandbox" } as const;
  const started = { ...about, event: "started", recorded: false, runsCommand: true, durationMs: 0 } as const;
  const told = watched(STARTED, started, { ...started, event: "passed" }, started);
  const facts = { toolCallId: "P1/check/app/tests", title: "check: tests (app)", kind: "execute" };
  expect(sent(told)).toEqual([
    { sessionUpdate: "tool_call", ...facts, status: "in_progress" },
    { sessionUpdate: "tool_call_update", ...facts, status: "completed" },
    { sessionUpdate: "tool_call", ...facts, status: "in_progress" },
  ]);
});

test("warnings about money and kept files, and notices in the user's own paths, reach the user as notices", () => {
  const told = watched(
    SANDBOX,
    { type: "budget_warning", scope: "plan", spent: 800_000, cap: 1_000_000 },
    { type: "kept_files", files: ["a.txt.1", "b.txt.1"] },
    { type: "notice", level: "info", text: "Working in /sandboxes/one." },
  );
  expect(told.told).toEqual([
    { notice: ["warning", "$0.80 of $1.00 of the budget is spent."] },
    { notice: ["warning", "Kept because another program was writing: a.txt.1, b.txt.1."] },
    { notice: ["info", "Working in /home/me/app."] },
  ]);
});

const SILENT: readonly RunEvent[] = [
  { type: "candidates_started", group: "G", candidates: [], spent: 0, cap: undefined },
  { type: "candidate", candidate: 1, plan: "P2", event: { type: "text", step: "fix", text: "words" } },
  { type: "candidate_ended", candidate: 1, plan: "P2", outcome: "ready", text: "1 file" },
  { type: "landing", kind: "apply", event: "merging" },
  { type: "progress", doing: "checking the audit log" },
  { type: "gateway_ready", variables: { OPENAI_BASE_URL: "http://127.0.0.1:1" } },
  { type: "recorded", plan: "P1", sequence: 1, event: "plan.created", text: "" },
  { type: "answer_text", text: "words" },
  { type: "answer_void" },
  { type: "answer_waits", why: "overloaded", delayMs: 1_000, next: 2, most: 5 },
];

test.each(SILENT.map((event) => [event.type, event] as const))("an editor is told nothing of %s", (_type, event) => {
  const told = watched(event);
  expect([told.told, told.plans, told.updates.answered]).toEqual([[], [], ""]);
});
