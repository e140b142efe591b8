/** Several `PlanActor`s in threads or processes of their own, all on one store. */
import { fork } from "node:child_process";
import { once, type EventEmitter } from "node:events";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { Outcome } from "./outcome.ts";
import type { ActorCommand } from "./plan-actor.ts";

export type ActorHome = "threads" | "processes";

interface Peer {
  readonly messages: EventEmitter;
  post(command: ActorCommand): void;
  stop(): Promise<unknown>;
}

const ENTRY = new URL("./actor-entry.ts", import.meta.url);

export class ActorGroup implements AsyncDisposable {
  readonly #peers: readonly Peer[];

  private constructor(peers: readonly Peer[]) {
    this.#peers = peers;
  }

  static async start(home: ActorHome, url: string, size: number): Promise<ActorGroup> {
    const make = home === "threads" ? thread : childProcess;
    const peers = Array.from({ length: size }, () => make(url));
    await Promise.all(peers.map((peer) => once(peer.messages, "message")));
    return new ActorGroup(peers);
  }

  get size(): number {
    return this.#peers.length;
  }

  /** Every actor gets its command (one command is for all of them); the outcomes in the order of the actors. */
  async run(command: ActorCommand | readonly ActorCommand[]): Promise<Outcome[][]> {
    return Promise.all(
      this.#peers.map(async (peer, index) => {
        const own = "kind" in command ? command : command[index];
        if (own === undefined) return [];
        const reply = once(peer.messages, "message");
        peer.post(own);
        const [outcomes] = (await reply) as [Outcome[]];
        return outcomes;
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#peers.map((peer) => peer.stop()));
  }
}

/** Shortly from now: commands that carry it have all arrived by then. */
export function soon(): number {
  return Date.now() + 8;
}

function thread(url: string): Peer {
  const worker = new Worker(ENTRY, { workerData: { url } });
  return { messages: worker, post: (command) => worker.postMessage(command, []), stop: () => worker.terminate() };
}

function childProcess(url: string): Peer {
  const child = fork(fileURLToPath(ENTRY), [url], { serialization: "advanced", execArgv: [] });
  return {
    messages: child,
    post: (command) => void child.send(command),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.disconnect();
      await exited;
    },
  };
}
