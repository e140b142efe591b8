/** Strategies that behave well, badly, and very badly. */
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort } from "node:worker_threads";
import type { Fragment, Strategy } from "../executor/strategy-protocol.ts";

export interface TestRequest {
  readonly id?: string;
  /** Shared with the test: [threads busy now, most ever busy, heartbeat, aborts seen, started, go]. */
  readonly cells?: SharedArrayBuffer;
}

type TestStrategy = Strategy<TestRequest>;

const one = (content: string, tokens = 1): Fragment[] => [{ content, tokens }];

function cellsOf(request: TestRequest): Int32Array {
  return new Int32Array(request.cells ?? new SharedArrayBuffer(24));
}

const echo: TestStrategy = (request, { tokens }) => one(`${request.id}:${tokens}`, tokens);
export default echo;

/** Answers after as many milliseconds as its budget has tokens. */
export const delayed: TestStrategy = async (request, { tokens }) => {
  const cells = cellsOf(request);
  countBusy(cells);
  await sleep(tokens);
  Atomics.sub(cells, 0, 1);
  return one(`${request.id}:${tokens}`, tokens);
};

function countBusy(cells: Int32Array): void {
  const busy = Atomics.add(cells, 0, 1) + 1;
  for (let most = Atomics.load(cells, 1); busy > most; most = Atomics.load(cells, 1))
    Atomics.compareExchange(cells, 1, most, busy);
}

export const twoPieces: TestStrategy = (request) => [
  { content: `${request.id} first`, tokens: 2, source: "a.ts", lines: [1, 2] },
  { content: `${request.id} second`, tokens: 3 },
];

export const throws: TestStrategy = () => {
  throw new Error("index is gone");
};

export const throwsNothingUseful: TestStrategy = () => Promise.reject({ status: 500 });

export const hangs: TestStrategy = (request) => {
  Atomics.add(cellsOf(request), 4, 1);
  setInterval(() => {}, 1_000);
  return new Promise(() => {});
};

export const spins: TestStrategy = (request) => {
  const cells = cellsOf(request);
  Atomics.add(cells, 4, 1);
  for (;;) Atomics.add(cells, 2, 1);
};

/** Ends as soon as it is aborted, and reports it. */
export const heedsAbort: TestStrategy = async (request, { signal }) => {
  const cells = cellsOf(request);
  Atomics.add(cells, 4, 1);
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  Atomics.add(cells, 3, 1);
  return one("too late");
};

export const waitsForGo: TestStrategy = async (request) => {
  const cells = cellsOf(request);
  countBusy(cells);
  Atomics.add(cells, 4, 1);
  while (Atomics.load(cells, 5) === 0) await sleep(2);
  Atomics.sub(cells, 0, 1);
  return one("gone");
};

/** Continues for ever in small steps, even when aborted. */
export const ignoresAbort: TestStrategy = async (request) => {
  const cells = cellsOf(request);
  for (;;) {
    Atomics.add(cells, 2, 1);
    await sleep(1);
  }
};

export const exits: TestStrategy = () => process.exit(3);

export const fillsMemory: TestStrategy = () => {
  const kept: number[][] = [];
  for (;;) kept.push(Array.from({ length: 100_000 }, (_, i) => i));
};

/** Answers, and breaks its thread a little later. */
export const leavesBomb: TestStrategy = () => {
  setTimeout(() => {
    throw new Error("left behind");
  }, 50);
  return one("fine");
};

/** Answers, and keeps ticking in its thread. */
export const leavesTicker: TestStrategy = (request) => {
  const cells = cellsOf(request);
  Atomics.add(cells, 2, 1);
  setInterval(() => Atomics.add(cells, 2, 1), 1);
  return one("ticking");
};

export const reportsToBreaker: TestStrategy = (request, { breaker }) => {
  breaker.recordFailure(`backend of ${request.id}`);
  return one(breaker.state(`backend of ${request.id}`));
};

export const postsNonsense: TestStrategy = () => {
  for (const nonsense of [null, 7, {}, { kind: "returned", id: 99, fragments: [] }, { kind: "returned", id: "x" }]) {
    parentPort?.postMessage(nonsense, []);
  }
  return one("sense");
};

class Lazy {
  get content(): string {
    return "not a property of its own";
  }
  readonly tokens = 1;
}

/** Things a strategy written without types might return. */
export const notAnArray = (): unknown => "text";
export const nothing = (): unknown => undefined;
export const withoutContent = (): unknown => [{ tokens: 1 }];
export const negativeTokens = (): unknown => [{ content: "x", tokens: -1 }];
export const halfTokens = (): unknown => [...one("fine"), { content: "x", tokens: 0.5 }];
export const holdsFunction = (): unknown => [{ content: "x", tokens: 1, again: () => {} }];
export const lazyContent = (): unknown => [new Lazy()];
export const notAFunction = 7;
