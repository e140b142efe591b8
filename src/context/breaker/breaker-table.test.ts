import { describe, expect, test } from "vitest";
import { BreakerFullError, ValidationError } from "../../domain/errors/errors.ts";
import { BreakerTable } from "./breaker-table.ts";
import { OPEN, PROBING, withPhase } from "./breaker-word.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { acquired, breakerAt, NAME, readyForProbe } from "../testing/breaker-at.ts";

describe("the state that a terminated thread leaves behind", () => {
  test("an opening without its deadline: the first reader completes it, and a latecomer cannot move it", () => {
    const { breaker, time } = breakerAt();
    breaker.recordFailure(NAME);
    const table = new BreakerTable(breaker.shared.buffer, breaker.shared.options.capacity);
    const slot = table.names.find(NAME);
    const low = table.low(slot);
    // The opener's steps up to the instruction at which it is terminated.
    expect(table.replace(slot, 0, low, 1, withPhase(low, OPEN))).toBe(true);
    expect(table.deadline(slot, 1)).toBe(-1);

    expect(breaker.isOpen(NAME)).toBe(true);
    time.now += 99;
    expect(breaker.tryAcquire(NAME)).toBeUndefined();
    // The opener was only asleep and publishes after all: the deadline that others rely on stays.
    expect(table.publishDeadline(slot, 1, 999_999)).toBe(1_100);
    time.now += 1;
    acquired(breaker.tryAcquire(NAME)).success();
    expect(breaker.state(NAME)).toBe("closed");
  });

  test.each(["isOpen", "state", "tryAcquire"] as const)("%s alone is enough to recover", (read) => {
    const { breaker, time } = breakerAt();
    breaker.recordFailure(NAME);
    const table = new BreakerTable(breaker.shared.buffer, breaker.shared.options.capacity);
    const slot = table.names.find(NAME);
    table.replace(slot, 0, table.low(slot), 1, withPhase(table.low(slot), OPEN));
    breaker[read](NAME);
    time.now += 100;
    expect(breaker.state(NAME)).toBe("half-open");
  });

  test("a probe without its deadline is overtaken like any hung one", () => {
    const { breaker, time } = readyForProbe();
    const table = new BreakerTable(breaker.shared.buffer, breaker.shared.options.capacity);
    const slot = table.names.find(NAME);
    table.replace(slot, 1, table.low(slot), 2, withPhase(table.low(slot), PROBING));
    expect(breaker.tryAcquire(NAME)).toBeUndefined();
    time.now += 50;
    expect(breaker.tryAcquire(NAME)).toBeDefined();
  });

  test("a deadline published for a generation that is over is ignored", () => {
    const { breaker } = breakerAt();
    for (let i = 0; i < 3; i++) breaker.recordFailure(NAME);
    breaker.reset(NAME);
    const table = new BreakerTable(breaker.shared.buffer, breaker.shared.options.capacity);
    const slot = table.names.find(NAME);
    expect(table.publishDeadline(slot, 7, 5)).toBe(-1);
    for (let i = 0; i < 3; i++) breaker.recordFailure(NAME);
    expect(breaker.isOpen(NAME)).toBe(true);
  });

  test("a deadline far from zero keeps every digit", () => {
    const { breaker, time } = breakerAt();
    time.now = Date.UTC(2100, 0, 1);
    for (let i = 0; i < 3; i++) breaker.recordFailure(NAME);
    time.now += 99;
    expect(breaker.isOpen(NAME)).toBe(true);
    time.now += 1;
    expect(breaker.isOpen(NAME)).toBe(false);
  });
});

describe("limits", () => {
  test("a full table throws, and the names in it keep working", () => {
    const { breaker } = breakerAt({ capacity: 3 });
    for (const name of ["a", "b", "c"]) breaker.recordFailure(name);
    for (let i = 0; i < 10; i++) expect(() => breaker.recordFailure(`d${i}`)).toThrow(BreakerFullError);
    expect(breaker.isOpen("d0")).toBe(false);
    breaker.recordFailure("a");
    expect(["a", "b", "c"].map((name) => breaker.failures(name))).toEqual([2, 1, 1]);
  });

  test("as many of the longest names as promised fit", () => {
    const { breaker } = breakerAt({ capacity: 64 });
    const names = Array.from({ length: 64 }, (_, i) => String(i).padStart(200, "x"));
    for (const name of names) breaker.recordFailure(name);
    expect(names.every((name) => breaker.failures(name) === 1)).toBe(true);
  });

  test.each(["", "x".repeat(201), "ü".repeat(101), "\ud800"])("refuses the name %j", (name) => {
    const { breaker } = breakerAt();
    expect(() => breaker.recordFailure(name)).toThrow(ValidationError);
    expect(breaker.isOpen(name)).toBe(false);
  });

  test.each([
    [{ failureThreshold: 0 }, "failureThreshold"],
    [{ failureThreshold: 2 ** 24 }, "failureThreshold"],
    [{ cooldownMs: -1 }, "cooldownMs"],
    [{ cooldownMs: 1.5 }, "cooldownMs"],
    [{ cooldownMs: 10, maxCooldownMs: 9 }, "maxCooldownMs"],
    [{ probeTimeoutMs: Number.NaN }, "probeTimeoutMs"],
    [{ capacity: 0 }, "capacity"],
  ])("refuses %j", (options, path) => {
    const issues = [expect.objectContaining({ path })];
    expect(() => new CircuitBreaker(options)).toThrow(expect.objectContaining({ code: "validation", issues }));
  });

  test("refuses memory that is not a breaker's", () => {
    const { options } = new CircuitBreaker().shared;
    expect(() => CircuitBreaker.attach({ buffer: new SharedArrayBuffer(64), options })).toThrow(ValidationError);
    const { buffer } = new CircuitBreaker({ capacity: 8 }).shared;
    expect(() => CircuitBreaker.attach({ buffer, options })).toThrow(ValidationError);
  });

  test("the shared part survives a structured clone", () => {
    const { breaker } = breakerAt();
    CircuitBreaker.attach(structuredClone(breaker.shared)).recordFailure(NAME);
    expect(breaker.failures(NAME)).toBe(1);
  });
});
