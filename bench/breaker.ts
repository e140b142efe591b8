/**
 * The cost of a circuit breaker per call, ours beside cockatiel and opossum, in one process and in interleaved rounds,
 * so that other load on the machine affects all three alike. "Closed" is a call that goes through to an async function
 * which returns at once. "Rejected" is a call that an open breaker refuses, as its users meet it: a permit that is
 * `undefined` with ours, a rejected promise with the other two. "Ours, throwing" is for comparison: the same rejection
 * through `execute`, which has to make an error.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { CircuitBreaker } from "../src/context/breaker/circuit-breaker.ts";

const ROUNDS = 7;
const CLOSED_CALLS = 200_000;
const REJECTED_CALLS = 50_000;
const HOUR_MS = 3_600_000;

const AIMS = [
  { call: "closed", peer: "cockatiel", limit: 1 },
  { call: "closed", peer: "opossum", limit: 0.5 },
  { call: "rejected", peer: "cockatiel", limit: 0.25 },
  { call: "rejected", peer: "opossum", limit: 0.25 },
] as const;

type Library = "ours" | "ours, throwing" | "cockatiel" | "opossum";
type Call = "closed" | "rejected";

interface Contestant {
  /** Make so many calls one after another. */
  readonly closed: (calls: number) => Promise<void>;
  readonly rejected: (calls: number) => Promise<void>;
  /** Ends what would keep the process alive. */
  readonly end?: () => void;
}

export async function run(options: { readonly peersDir: string }): Promise<void> {
  const contestants: Readonly<Record<Library, Contestant>> = {
    ours: ours(),
    "ours, throwing": oursThrowing(),
    cockatiel: await cockatiel(options.peersDir),
    opossum: await opossum(options.peersDir),
  };
  const medians = await measure(contestants);
  for (const library of LIBRARIES) contestants[library].end?.();

  const nanoseconds = (value: number): string => `${value.toFixed(0)} ns`.padStart(10);
  console.log("circuit breaker   closed call  rejected call");
  for (const library of LIBRARIES) {
    console.log(
      `${library.padEnd(17)} ${nanoseconds(medians[library].closed)}     ${nanoseconds(medians[library].rejected)}`,
    );
  }
  console.log("");
  for (const { call, peer, limit } of AIMS) {
    const ratio = medians.ours[call] / medians[peer][call];
    const verdict = ratio <= limit ? "met" : "not met";
    console.log(`${call} call: ${ratio.toFixed(2)}x of ${peer}; aim ≤ ${limit}x: ${verdict}`);
  }
}

const LIBRARIES: readonly Library[] = ["ours", "ours, throwing", "cockatiel", "opossum"];

async function measure(
  contestants: Readonly<Record<Library, Contestant>>,
): Promise<Record<Library, Record<Call, number>>> {
  const samples: Record<Library, Record<Call, number[]>> = {
    ours: { closed: [], rejected: [] },
    "ours, throwing": { closed: [], rejected: [] },
    cockatiel: { closed: [], rejected: [] },
    opossum: { closed: [], rejected: [] },
  };
  // Round 0 warms up and is not counted.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const library of LIBRARIES) {
      for (const [call, calls] of [
        ["closed", CLOSED_CALLS],
        ["rejected", REJECTED_CALLS],
      ] as const) {
        const started = process.hrtime.bigint();
        await contestants[library][call](calls);
        const perCall = Number(process.hrtime.bigint() - started) / calls;
        if (round > 0) samples[library][call].push(perCall);
      }
    }
  }
  return {
    ours: mediansOf(samples.ours),
    "ours, throwing": mediansOf(samples["ours, throwing"]),
    cockatiel: mediansOf(samples.cockatiel),
    opossum: mediansOf(samples.opossum),
  };
}

function mediansOf(samples: Record<Call, number[]>): Record<Call, number> {
  return { closed: median(samples.closed), rejected: median(samples.rejected) };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const work = async (): Promise<number> => 1;
const broken = async (): Promise<never> => {
  throw new Error("broken");
};

function ours(): Contestant {
  const breaker = openBreaker();
  return {
    closed: async (calls) => {
      for (let i = 0; i < calls; i++) await breaker.execute("closed", work);
    },
    rejected: async (calls) => {
      for (let i = 0; i < calls; i++) if (breaker.tryAcquire("open") !== undefined) throw new Error("not rejected");
    },
  };
}

function oursThrowing(): Contestant {
  const breaker = openBreaker();
  return { ...ours(), rejected: (calls) => expectRejections(calls, () => breaker.execute("open", work)) };
}

function openBreaker(): CircuitBreaker {
  const breaker = new CircuitBreaker({ cooldownMs: HOUR_MS, maxCooldownMs: HOUR_MS });
  for (let i = 0; i < 3; i++) breaker.recordFailure("open");
  return breaker;
}

interface Cockatiel {
  handleAll: object;
  ConsecutiveBreaker: new (failures: number) => object;
  circuitBreaker(policy: object, options: { halfOpenAfter: number; breaker: object }): CockatielPolicy;
}

interface CockatielPolicy {
  execute<T>(fn: () => Promise<T>): Promise<T>;
}

async function cockatiel(peersDir: string): Promise<Contestant> {
  const library: Cockatiel = await peer(peersDir, "cockatiel");
  const make = (): CockatielPolicy =>
    library.circuitBreaker(library.handleAll, { halfOpenAfter: HOUR_MS, breaker: new library.ConsecutiveBreaker(3) });
  const closed = make();
  const open = make();
  for (let i = 0; i < 3; i++) await open.execute(broken).catch(ignore);
  return {
    closed: async (calls) => {
      for (let i = 0; i < calls; i++) await closed.execute(work);
    },
    rejected: (calls) => expectRejections(calls, () => open.execute(work)),
  };
}

interface Opossum {
  default: new (fn: () => Promise<unknown>, options: OpossumOptions) => { fire(): Promise<unknown>; shutdown(): void };
}

interface OpossumOptions {
  timeout: false;
  resetTimeout: number;
  volumeThreshold: number;
  errorThresholdPercentage: number;
}

async function opossum(peersDir: string): Promise<Contestant> {
  const library: Opossum = await peer(peersDir, "opossum");
  const options: OpossumOptions = {
    timeout: false,
    resetTimeout: HOUR_MS,
    volumeThreshold: 3,
    errorThresholdPercentage: 1,
  };
  const closed = new library.default(work, options);
  const open = new library.default(broken, options);
  for (let i = 0; i < 4; i++) await open.fire().catch(ignore);
  return {
    closed: async (calls) => {
      for (let i = 0; i < calls; i++) await closed.fire();
    },
    rejected: (calls) => expectRejections(calls, () => open.fire()),
    end: () => [closed, open].forEach((one) => one.shutdown()),
  };
}

/** The peers are installed on demand, outside our own dependencies, so they cannot be imported by name from here. */
async function peer<T>(peersDir: string, name: string): Promise<T> {
  const resolve = createRequire(join(peersDir, "package.json")).resolve;
  return import(pathToFileURL(resolve(name)).href);
}

async function expectRejections(calls: number, call: () => Promise<unknown>): Promise<void> {
  let rejected = 0;
  for (let i = 0; i < calls; i++) {
    try {
      await call();
    } catch {
      rejected++;
    }
  }
  if (rejected !== calls) throw new Error(`${calls - rejected} of ${calls} calls were not rejected`);
}

function ignore(): void {
  // The failure was the point.
}
