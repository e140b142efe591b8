/**
 * The cost of a circuit breaker per call, ours beside cockatiel and opossum, in one process and in interleaved rounds,
 * so that other load on the machine affects all three alike. "Closed" is a call that goes through to an async function
 * which returns at once. "Rejected" is a call that an open breaker refuses, as its users meet it: a permit that is
 * `undefined` with ours, a rejected promise with the other two. "Ours, throwing" is for comparison: the same rejection
 * through `execute`, which has to make an error.
 */
import { CircuitBreaker } from "../src/context/breaker/circuit-breaker.ts";
import { type BenchSize, summarize } from "./measure.ts";
import { ifItRuns, peer } from "./peer.ts";

const ROUNDS = { smoke: 1, quick: 7, full: 7 } as const;
const CALLS = {
  smoke: { closed: 2_000, rejected: 500 },
  quick: { closed: 200_000, rejected: 50_000 },
  full: { closed: 200_000, rejected: 50_000 },
} as const;
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

type Libraries = ReadonlyMap<Library, Contestant>;
type Medians = ReadonlyMap<Library, Readonly<Record<Call, number>>>;

export async function run(options: { readonly peersDir: string; readonly size: BenchSize }): Promise<void> {
  const { peersDir, size } = options;
  const libraries = new Map<Library, Contestant>([
    ["ours", ours()],
    ["ours, throwing", oursThrowing()],
  ]);
  for (const [name, make] of [
    ["cockatiel", cockatiel],
    ["opossum", opossum],
  ] as const) {
    const contestant = await ifItRuns(name, () => make(peersDir));
    if (contestant !== undefined) libraries.set(name, contestant);
  }
  const medians = await measure(libraries, size);
  for (const { end } of libraries.values()) end?.();
  report(medians);
}

function report(medians: Medians): void {
  const nanoseconds = (value: number): string => `${value.toFixed(0)} ns`.padStart(10);
  console.log("circuit breaker   closed call  rejected call");
  for (const [library, { closed, rejected }] of medians)
    console.log(`${library.padEnd(17)} ${nanoseconds(closed)}     ${nanoseconds(rejected)}`);
  console.log("");
  for (const { call, peer: name, limit } of AIMS) {
    const [own, theirs] = [medians.get("ours"), medians.get(name)];
    if (own === undefined || theirs === undefined) continue;
    const ratio = own[call] / theirs[call];
    const verdict = ratio <= limit ? "met" : "not met";
    console.log(`${call} call: ${ratio.toFixed(2)}x of ${name}; aim ≤ ${limit}x: ${verdict}`);
  }
}

async function measure(libraries: Libraries, size: BenchSize): Promise<Medians> {
  const samples = new Map(
    Array.from(libraries.keys(), (library) => [library, { closed: [] as number[], rejected: [] as number[] }]),
  );
  // Round 0 warms up and is not counted.
  for (let round = 0; round <= ROUNDS[size]; round++) {
    for (const [library, contestant] of libraries) {
      for (const call of ["closed", "rejected"] as const) {
        const calls = CALLS[size][call];
        const started = process.hrtime.bigint();
        await contestant[call](calls);
        const perCall = Number(process.hrtime.bigint() - started) / calls;
        if (round > 0) samples.get(library)?.[call].push(perCall);
      }
    }
  }
  return new Map(
    Array.from(samples, ([library, { closed, rejected }]) => [
      library,
      { closed: summarize(closed).median, rejected: summarize(rejected).median },
    ]),
  );
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
