/** A thread that hammers a shared breaker on command. All threads of a group start each piece of work together. */
import { parentPort, workerData } from "node:worker_threads";
import type { CircuitBreaker, SharedBreaker } from "../breaker/circuit-breaker.ts";
import type { BreakerClock } from "../breaker/breaker-settings.ts";
import { type BreakerOperation, BreakerOperator, type OperationResult } from "./breaker-operations.ts";
import type { RecordedOperation } from "./linearizability.ts";

export interface BreakerWorkerData {
  readonly shared: SharedBreaker;
  /** Module that exports `attach`, so that a test can put another implementation in its place. */
  readonly module: string;
  readonly threads: number;
  /** One counter: how often a thread has arrived at the start line. */
  readonly startLine: SharedArrayBuffer;
  /** The constant time of this thread's breaker; without it, the real clock. */
  readonly now?: number;
}

export type BreakerCommand =
  | { readonly kind: "failures"; readonly names: readonly string[]; readonly times: number }
  /** One failure of each name; all threads come to their first, second, third name at the same time. */
  | { readonly kind: "inStep"; readonly names: readonly string[] }
  | { readonly kind: "acquire"; readonly name: string; readonly times: number }
  | { readonly kind: "states"; readonly names: readonly string[] }
  | {
      readonly kind: "histories";
      readonly histories: readonly { name: string; operations: readonly BreakerOperation[] }[];
    };

export type BreakerRecord = RecordedOperation<BreakerOperation, OperationResult>;

export type BreakerReply =
  | { readonly kind: "done" }
  | { readonly kind: "granted"; readonly permits: number }
  | { readonly kind: "states"; readonly states: readonly string[] }
  | { readonly kind: "recorded"; readonly histories: readonly (readonly BreakerRecord[])[] };

if (parentPort !== null) await serve(parentPort, workerData);

async function serve(port: NonNullable<typeof parentPort>, data: BreakerWorkerData): Promise<void> {
  const { module, shared, threads, now } = data;
  const implementation: { attach(shared: SharedBreaker, options: { clock?: BreakerClock }): CircuitBreaker } =
    await import(module);
  const breaker = implementation.attach(shared, now === undefined ? {} : { clock: () => now });
  const startLine = new Int32Array(data.startLine);
  port.on("message", (command: BreakerCommand) => port.postMessage(carryOut(command)));

  function carryOut(command: BreakerCommand): BreakerReply {
    switch (command.kind) {
      case "failures":
        startTogether();
        for (let i = 0; i < command.times; i++) for (const name of command.names) breaker.recordFailure(name);
        return { kind: "done" };
      case "inStep":
        for (const name of command.names) {
          startTogether();
          breaker.recordFailure(name);
        }
        return { kind: "done" };
      case "acquire": {
        startTogether();
        let permits = 0;
        for (let i = 0; i < command.times; i++) if (breaker.tryAcquire(command.name) !== undefined) permits++;
        return { kind: "granted", permits };
      }
      case "states":
        return { kind: "states", states: command.names.map((name) => breaker.state(name)) };
      case "histories":
        return {
          kind: "recorded",
          histories: command.histories.map(({ name, operations }) => record(name, operations)),
        };
    }
  }

  function record(name: string, operations: readonly BreakerOperation[]): BreakerRecord[] {
    const operator = new BreakerOperator(breaker, name);
    // Look the name up before the start: the race is about the words.
    breaker.failures(name);
    startTogether();
    return operations.map((operation) => {
      const called = process.hrtime.bigint();
      const result = operator.perform(operation);
      return { operation, result, called, returned: process.hrtime.bigint() };
    });
  }

  /**
   * Spins rather than sleeps, or the first to wake would be done before the second; but lets others run if there are
   * few processors.
   */
  function startTogether(): void {
    const goal = (Math.floor(Atomics.add(startLine, 0, 1) / threads) + 1) * threads;
    for (let spins = 1; Atomics.load(startLine, 0) < goal; spins++) {
      if (spins % 2_000 === 0) Atomics.wait(startLine, 1, 0, 0.02);
    }
  }
}
