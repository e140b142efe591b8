/**
 * Entry of the worker threads in which strategies run. A thread runs one strategy at a time. The result or exception of
 * the strategy becomes a reply; the calling thread notices damage to the thread itself (a busy loop, `process.exit`).
 */
import { flushCompileCache } from "node:module";
import { inspect } from "node:util";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { CircuitBreaker } from "../breaker/circuit-breaker.ts";
import { floodProblem } from "./flood-limit.ts";
import {
  fragmentsProblem,
  type Strategy,
  type StrategyCall,
  type StrategyReply,
  type StrategyWorkerData,
  type WorkerCommand,
  type WorkerMessage,
} from "./strategy-protocol.ts";

/** A message is copied into the calling thread as well. */
const MAX_REASON = 2_000;

if (parentPort !== null) serve(parentPort, workerData);

function serve(port: MessagePort, data: StrategyWorkerData): void {
  let attached: CircuitBreaker | undefined;
  let running: { id: number; controller: AbortController } | undefined;

  port.on("message", (command: WorkerCommand) => {
    switch (command.kind) {
      case "run":
        void run(command.id, command.call);
        return;
      case "abort":
        if (running?.id === command.id) running.controller.abort();
        return;
      case "stop":
        process.exit(0);
    }
  });
  send({ kind: "ready" });
  for (const module of data.preload) import(module).catch(() => undefined);

  async function run(id: number, call: StrategyCall): Promise<void> {
    const controller = new AbortController();
    running = { id, controller };
    const reply = await attempt(call, controller.signal);
    running = undefined;
    try {
      send({ ...reply, id });
    } catch (error) {
      send({ kind: "failed", id, reason: `returned fragments that cannot leave its thread: ${reasonOf(error)}` });
    }
    flushCompileCache();
  }

  async function attempt(call: StrategyCall, signal: AbortSignal): Promise<StrategyReply> {
    try {
      const strategy = await load(call);
      const fragments = await strategy(call.request, {
        tokens: call.tokens,
        signal,
        get breaker() {
          return (attached ??= CircuitBreaker.attach(data.breaker));
        },
      });
      const problem = fragmentsProblem(fragments) ?? floodProblem(fragments);
      return problem === undefined ? { kind: "returned", fragments } : { kind: "failed", reason: problem };
    } catch (error) {
      return { kind: "failed", reason: reasonOf(error) };
    }
  }

  function send(message: WorkerMessage): void {
    port.postMessage(message, []);
  }
}

async function load(call: StrategyCall): Promise<Strategy<unknown>> {
  const module: Readonly<Record<string, unknown>> = await import(call.module);
  const strategy = module[call.exportName];
  if (!isStrategy(strategy)) throw new Error(`${call.module} exports no function "${call.exportName}"`);
  return strategy;
}

/** That it is a function is all that can be known before calling it; its result is checked. */
function isStrategy(value: unknown): value is Strategy<unknown> {
  return typeof value === "function";
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return cut(`threw ${inspect(error, { depth: 1, maxStringLength: MAX_REASON })}`);
  return cut(error.message === "" ? error.name : error.message);
}

function cut(reason: string): string {
  return reason.length > MAX_REASON ? `${reason.slice(0, MAX_REASON)}…` : reason;
}
