import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { BreakerOpenError } from "../../domain/errors/errors.ts";
import { afterFailure } from "./breaker-word.ts";
import { type BreakerTransition, CircuitBreaker } from "./circuit-breaker.ts";
import { acquired, breakerAt, NAME, readyForProbe } from "../testing/breaker-at.ts";

describe("opening", () => {
  test("an unused name is closed, without failures, and stays unknown", () => {
    const { breaker } = breakerAt({ capacity: 1 });
    expect(breaker.state("never used")).toBe("closed");
    expect(breaker.failures("never used")).toBe(0);
    expect(breaker.isOpen("never used")).toBe(false);
    breaker.reset("never used");
    // The only place in the table is still free.
    breaker.recordFailure(NAME);
    expect(breaker.failures(NAME)).toBe(1);
  });

  test.each([1, 2, 3, 10])("happens at exactly %i consecutive failures", (failureThreshold) => {
    const { breaker } = breakerAt({ failureThreshold });
    for (let i = 1; i < failureThreshold; i++) {
      breaker.recordFailure(NAME);
      expect(breaker.state(NAME)).toBe("closed");
    }
    breaker.recordFailure(NAME);
    expect(breaker.state(NAME)).toBe("open");
    expect(breaker.isOpen(NAME)).toBe(true);
    expect(breaker.failures(NAME)).toBe(failureThreshold);
  });

  test("a success in between starts the count again", () => {
    const { breaker } = breakerAt();
    for (let i = 0; i < 20; i++) {
      breaker.recordFailure(NAME);
      breaker.recordFailure(NAME);
      breaker.recordSuccess(NAME);
    }
    expect(breaker.state(NAME)).toBe("closed");
    expect(breaker.failures(NAME)).toBe(0);
  });

  test("names do not influence each other", () => {
    const { breaker } = breakerAt();
    for (let i = 0; i < 3; i++) breaker.recordFailure("a");
    breaker.recordFailure("b");
    expect([breaker.state("a"), breaker.state("b"), breaker.failures("b")]).toEqual(["open", "closed", 1]);
  });

  test("a success by name closes an open breaker", () => {
    const { breaker } = breakerAt();
    for (let i = 0; i < 3; i++) breaker.recordFailure(NAME);
    breaker.recordSuccess(NAME);
    expect([breaker.state(NAME), breaker.failures(NAME)]).toEqual(["closed", 0]);
  });

  test("the count stops at its limit instead of running into the next field", () => {
    const atLimit = afterFailure((2 ** 24 - 1) << 8, 2 ** 24 - 1);
    expect(afterFailure(atLimit, 3)).toBe(atLimit);
  });
});

describe("cooldown", () => {
  test("rejects until its very end, then half-open", () => {
    const { breaker, time } = breakerAt();
    for (let i = 0; i < 3; i++) breaker.recordFailure(NAME);
    time.now += 99;
    expect([breaker.state(NAME), breaker.isOpen(NAME), breaker.tryAcquire(NAME)]).toEqual(["open", true, undefined]);
    time.now += 1;
    expect([breaker.state(NAME), breaker.isOpen(NAME)]).toEqual(["half-open", false]);
    expect(breaker.tryAcquire(NAME)).toBeDefined();
  });

  test("is not shortened when the clock has fractions", () => {
    const { breaker, time } = breakerAt();
    time.now = 1_000.6;
    for (let i = 0; i < 3; i++) breaker.recordFailure(NAME);
    time.now = 1_100.5;
    expect(breaker.isOpen(NAME)).toBe(true);
  });

  test("is not extended by failures while open, though they count", () => {
    const { breaker, time } = breakerAt();
    for (let i = 0; i < 3; i++) breaker.recordFailure(NAME);
    time.now += 99;
    for (let i = 0; i < 7; i++) breaker.recordFailure(NAME);
    expect(breaker.failures(NAME)).toBe(10);
    time.now += 1;
    expect(breaker.tryAcquire(NAME)).toBeDefined();
  });

  test("doubles with each failed probe up to the cap, and starts over after a success", () => {
    const { breaker, time } = readyForProbe();
    for (const cooldown of [200, 400, 800, 1_000, 1_000]) {
      acquired(breaker.tryAcquire(NAME)).failure();
      time.now += cooldown - 1;
      expect(breaker.isOpen(NAME)).toBe(true);
      time.now += 1;
      expect(breaker.isOpen(NAME)).toBe(false);
    }
    expect(breaker.failures(NAME)).toBe(8);
    acquired(breaker.tryAcquire(NAME)).success();
    for (let i = 0; i < 3; i++) breaker.recordFailure(NAME);
    time.now += 100;
    expect(breaker.isOpen(NAME)).toBe(false);
  });

  test("a tiny cooldown still reaches a large cap", () => {
    const { breaker, time } = breakerAt({ cooldownMs: 1, maxCooldownMs: 10_000_000, failureThreshold: 1 });
    breaker.recordFailure(NAME);
    for (let i = 0; i < 80; i++) {
      time.now += 10_000_000;
      acquired(breaker.tryAcquire(NAME)).failure();
    }
    time.now += 9_999_999;
    expect(breaker.isOpen(NAME)).toBe(true);
    time.now += 1;
    expect(breaker.isOpen(NAME)).toBe(false);
  });
});

describe("half-open", () => {
  test("of 1,000 callers one probes", () => {
    const { breaker } = readyForProbe();
    const permits = Array.from({ length: 1_000 }, () => breaker.tryAcquire(NAME)).filter(
      (permit) => permit !== undefined,
    );
    expect(permits).toHaveLength(1);
    expect([breaker.state(NAME), breaker.isOpen(NAME)]).toEqual(["half-open", true]);
  });

  test("a successful probe closes and forgets", () => {
    const { breaker } = readyForProbe();
    acquired(breaker.tryAcquire(NAME)).success();
    expect([breaker.state(NAME), breaker.failures(NAME)]).toEqual(["closed", 0]);
  });

  test("a hung probe does not block for ever, and its late result changes nothing", () => {
    const { breaker, time } = readyForProbe();
    const hung = acquired(breaker.tryAcquire(NAME));
    time.now += 49;
    expect(breaker.tryAcquire(NAME)).toBeUndefined();
    time.now += 1;
    expect(breaker.isOpen(NAME)).toBe(false);
    const second = acquired(breaker.tryAcquire(NAME));
    expect(breaker.tryAcquire(NAME)).toBeUndefined();
    hung.success();
    expect(breaker.state(NAME)).toBe("half-open");
    second.failure();
    expect([breaker.state(NAME), breaker.failures(NAME)]).toEqual(["open", 4]);
  });

  test("a cancelled probe gives its place back at once", () => {
    const { breaker } = readyForProbe();
    acquired(breaker.tryAcquire(NAME)).cancel();
    expect([breaker.state(NAME), breaker.isOpen(NAME), breaker.failures(NAME)]).toEqual(["half-open", false, 3]);
    expect(breaker.tryAcquire(NAME)).toBeDefined();
    expect(breaker.tryAcquire(NAME)).toBeUndefined();
  });

  test("a failure by name re-opens while a probe is running, and the probe's result is then late", () => {
    const { breaker, time } = readyForProbe();
    const probe = acquired(breaker.tryAcquire(NAME));
    breaker.recordFailure(NAME);
    probe.success();
    expect([breaker.state(NAME), breaker.failures(NAME)]).toEqual(["open", 4]);
    time.now += 199;
    expect(breaker.isOpen(NAME)).toBe(true);
  });

  test("a reset during the probe wins over the probe", () => {
    const { breaker } = readyForProbe();
    const probe = acquired(breaker.tryAcquire(NAME));
    breaker.reset(NAME);
    probe.failure();
    expect([breaker.state(NAME), breaker.failures(NAME)]).toEqual(["closed", 0]);
  });
});

describe("permits", () => {
  test("settle once", () => {
    const { breaker } = breakerAt();
    const permit = acquired(breaker.tryAcquire(NAME));
    for (let i = 0; i < 3; i++) permit.failure();
    permit.success();
    expect(breaker.failures(NAME)).toBe(1);
  });

  test("of an older generation change nothing", () => {
    const { breaker } = breakerAt();
    const permits = Array.from({ length: 6 }, () => acquired(breaker.tryAcquire(NAME)));
    permits.slice(0, 3).forEach((permit) => permit.failure());
    permits[3]?.failure();
    expect([breaker.state(NAME), breaker.failures(NAME)]).toEqual(["open", 3]);
    permits[4]?.success();
    permits[5]?.cancel();
    expect([breaker.state(NAME), breaker.failures(NAME)]).toEqual(["open", 3]);
  });

  test("are void after a reset, also of a closed name", () => {
    const { breaker } = breakerAt();
    const one = acquired(breaker.tryAcquire(NAME));
    breaker.reset(NAME);
    one.failure();
    expect(breaker.failures(NAME)).toBe(0);
    const other = acquired(breaker.tryAcquire(NAME));
    breaker.resetAll();
    other.failure();
    expect(breaker.failures(NAME)).toBe(0);
  });

  test("resetAll reaches every name, from any thread", () => {
    const { breaker, time } = breakerAt();
    const elsewhere = CircuitBreaker.attach(breaker.shared, { clock: () => time.now });
    for (let i = 0; i < 3; i++) breaker.recordFailure("ours");
    for (let i = 0; i < 3; i++) elsewhere.recordFailure("theirs — ünïcode");
    breaker.resetAll();
    expect([elsewhere.state("ours"), elsewhere.state("theirs — ünïcode")]).toEqual(["closed", "closed"]);
  });
});

describe("listeners", () => {
  test("hear every change of state, with the name, the count and a rising generation", () => {
    const { breaker, time } = breakerAt();
    const heard: BreakerTransition[] = [];
    const unsubscribe = breaker.onTransition((transition) => heard.push(transition));
    for (let i = 0; i < 4; i++) breaker.recordFailure(NAME);
    time.now += 100;
    acquired(breaker.tryAcquire(NAME)).failure();
    time.now += 200;
    acquired(breaker.tryAcquire(NAME)).success();
    unsubscribe();
    for (let i = 0; i < 3; i++) breaker.recordFailure(NAME);
    expect(heard).toEqual([
      { name: NAME, from: "closed", to: "open", failures: 3, generation: 1 },
      { name: NAME, from: "open", to: "half-open", failures: 4, generation: 2 },
      { name: NAME, from: "half-open", to: "open", failures: 5, generation: 3 },
      { name: NAME, from: "open", to: "half-open", failures: 5, generation: 4 },
      { name: NAME, from: "half-open", to: "closed", failures: 0, generation: 5 },
    ]);
  });

  test("that throw disturb neither the caller nor the others, and are reported", async () => {
    const { breaker } = breakerAt({ failureThreshold: 1 });
    const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
    let heard = 0;
    breaker.onTransition(() => {
      throw new Error("listener is broken");
    });
    breaker.onTransition(() => heard++);
    breaker.recordFailure(NAME);
    expect([breaker.state(NAME), heard]).toEqual(["open", 1]);
    expect((await warned).message).toBe("listener is broken");
  });

  test("may call the breaker and unsubscribe others while being called", () => {
    const { breaker } = breakerAt({ failureThreshold: 1 });
    const heard: string[] = [];
    const unsubscribe: (() => void)[] = [];
    breaker.onTransition(({ to }) => {
      unsubscribe.forEach((end) => end());
      if (to === "open") breaker.reset(NAME);
    });
    unsubscribe.push(breaker.onTransition(({ to }) => heard.push(to)));
    breaker.recordFailure(NAME);
    expect(breaker.state(NAME)).toBe("closed");
    // It was subscribed when the first transition happened, and not any more at the second.
    expect(heard).toEqual(["open"]);
  });
});

describe("execute", () => {
  test("returns the function's result and throws its error", async () => {
    const { breaker } = breakerAt();
    expect(await breaker.execute(NAME, async () => 7)).toBe(7);
    await expect(
      breaker.execute(NAME, () => {
        throw new Error("thrown, not rejected");
      }),
    ).rejects.toThrow("thrown, not rejected");
    expect(breaker.failures(NAME)).toBe(1);
  });

  test("does not call the function when it is open", async () => {
    const { breaker } = breakerAt();
    for (let i = 0; i < 3; i++) breaker.recordFailure(NAME);
    let called = false;
    const call = breaker.execute(NAME, async () => {
      called = true;
    });
    await expect(call).rejects.toBeInstanceOf(BreakerOpenError);
    expect(called).toBe(false);
  });

  test("does not hold the caller's own cancellation against the name", async () => {
    const { breaker } = readyForProbe();
    const controller = new AbortController();
    const call = breaker.execute(
      NAME,
      async () => {
        controller.abort();
        controller.signal.throwIfAborted();
      },
      { signal: controller.signal },
    );
    await expect(call).rejects.toThrow("aborted");
    expect(breaker.failures(NAME)).toBe(3);
    expect(breaker.tryAcquire(NAME)).toBeDefined();
  });

  test("counts an AbortError the caller did not cause", async () => {
    const { breaker } = breakerAt();
    const call = breaker.execute(NAME, async () => AbortSignal.abort().throwIfAborted(), {
      signal: new AbortController().signal,
    });
    await expect(call).rejects.toThrow("aborted");
    expect(breaker.failures(NAME)).toBe(1);
  });
});

test("the example in the documentation runs", async () => {
  const source = await readFile(new URL("./circuit-breaker.ts", import.meta.url), "utf8");
  const example = /```js\n([\s\S]*?)```/.exec(source)?.[1]?.replaceAll(/^ \* ?/gm, "") ?? "";
  expect(example).toContain("tryAcquire");
  const code = example.replace(
    '"cleveragents/primitives"',
    JSON.stringify(new URL("./circuit-breaker.ts", import.meta.url).href),
  );
  await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code]);
});
