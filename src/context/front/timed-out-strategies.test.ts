import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { resolveView } from "../../domain/context/context-policy.ts";
import { Budget } from "../../ledger/budgets.ts";
import { openStore } from "../../store/sqlite/open-store.ts";
import { ContextCache } from "../cache/context-cache.ts";
import { AssemblySetUp, question, strategy } from "../testing/assembly-set-up.ts";
import { ControlledTimers } from "../testing/controlled-timers.ts";
import { NEVER_MS } from "../testing/executor-set-up.ts";
import { contextConfiguration } from "./context-configuration.ts";
import { filterOf } from "./context-places.ts";
import { ContextService } from "./context-service.ts";
import { requireInTime } from "./timed-out-strategies.ts";

const HANGING = `export const confidence = () => 1;
export default () => new Promise(() => setInterval(() => {}, 1_000));
`;

test("a strategy that a deadline ended is an error with its name, also when others found something", async () => {
  const timers = new ControlledTimers();
  await using setUp = new AssemblySetUp([strategy("hangs"), strategy("signatures")], {
    executor: { strategyTimeoutMs: 3_000, totalTimeoutMs: 6_000, timers },
  });
  const assembling = setUp.assembler.assemble(setUp.input(2_000));
  await timers.untilOnly(1, 2);
  timers.advance(3_000);
  const context = await assembling;
  expect(context.fragments.length).toBeGreaterThan(0);
  expect(context.gaps).toEqual([{ kind: "strategy", name: "hangs", reason: "timed out after 3 s" }]);
  expect(() => requireInTime(context)).toThrow(
    expect.objectContaining({
      code: "timed_out",
      message: "The search timed out: hangs did not finish in time.",
      detail: { strategies: ["hangs"] },
    }),
  );
});

test("a strategy whose turn never came is named as well; failures of other kinds are gaps", () => {
  expect(() => requireInTime({ outcomes: [{ strategy: "late", status: "skipped", reason: "deadline" }] })).toThrow(
    "timed out: late",
  );
  const others = [
    { strategy: "off", status: "skipped", reason: "breaker open" },
    { strategy: "broken", status: "failed", reason: "no luck", durationMs: 1 },
  ] as const;
  expect(() => requireInTime({ outcomes: others })).not.toThrow();
});

test("a context that lacks a strategy for its deadline is not stored: the next one is whole", async () => {
  const strategies = [strategy("hangsOnce", { repeatable: true }), strategy("signatures", { repeatable: true })];
  const directory = mkdtempSync(join(tmpdir(), "timed-out-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const timers = new ControlledTimers();
  await using cached = new AssemblySetUp(strategies, {
    executor: { strategyTimeoutMs: 3_000, totalTimeoutMs: 6_000, timers },
    parts: { cache: new ContextCache(directory) },
  });
  const scope = await cached.scope();
  const assembling = cached.assembler.assemble(cached.input(2_000, { scope: () => scope }));
  await timers.untilOnly(1, 2);
  await vi.waitUntil(() => existsSync(`${scope.trees[0]?.index}.asked`), NEVER_MS);
  timers.advance(3_000);
  const short = await assembling;
  expect(short.outcomes).toContainEqual(expect.objectContaining({ strategy: "hangsOnce", status: "timed_out" }));
  const whole = await cached.assembler.assemble(cached.input(2_000, { scope: () => scope }));
  expect(whole.outcomes.map(({ status }) => status)).toEqual(["ran", "ran"]);
  requireInTime(whole);
});

test("no caller of the service gets a context without a strategy that a deadline ended", async () => {
  const directory = mkdtempSync(join(tmpdir(), "timed-out-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const root = join(directory, "code");
  mkdirSync(root);
  writeFileSync(join(root, "lease.ts"), "export const lease = 1;\n");
  const module = join(directory, "hanging.mjs");
  writeFileSync(module, HANGING);
  await using store = await openStore(`sqlite:${join(directory, "store.db")}`);
  await using service = new ContextService({
    store,
    dataDir: directory,
    configuration: {
      ...(await contextConfiguration(() => Promise.resolve(undefined), {})),
      own: [{ name: "hanging", module }],
      trusted: [module],
      enabled: ["hanging"],
    },
    budget: new Budget({ store, caps: { perPlan: undefined, perDay: undefined } }),
    deadlines: { strategyMs: 50, totalMs: NEVER_MS },
  });
  const view = resolveView({}, "default");
  const places = [{ resource: "code", root, sandbox: undefined, filter: filterOf(view), indexedSize: 1_000 }];
  const order = { project: "here", places, view, budget: 5_000, question: question({ query: "lease" }) };
  await expect(service.assemble(order)).rejects.toMatchObject({
    code: "timed_out",
    detail: { strategies: ["hanging"] },
  });
});
