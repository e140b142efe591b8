/**
 * MCP over the standard streams of a process that another part of the program started: confined or not is not decided
 * here. A server may be broken or hostile, so one line, everything that came since the last request, and the complaints
 * that are kept are all limited; a server over a limit is ended.
 */
import type { Readable, Writable } from "node:stream";
import type * as Sdk from "@modelcontextprotocol/client";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { lastPart } from "./server-text.ts";

/** A started server, with its standard streams. */
export interface ServerProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly pid: number | undefined;
  /** Resolves to its exit code once nothing of it is left. */
  readonly ended: Promise<number>;
  /** Ends it and everything that it started. */
  kill(): void;
}

interface StreamLimits {
  /** Of one message. */
  readonly lineBytes: number;
  /** Of everything between two requests of ours. */
  readonly floodBytes: number;
  /** How long it may take to end by itself after its input has ended. */
  readonly endMs: number;
}

const LIMITS: StreamLimits = { lineBytes: 16 * 1024 * 1024, floodBytes: 64 * 1024 * 1024, endMs: 2_000 };
const COMPLAINT_BYTES = 8_192;
const NEWLINE = 10;

/** Without the half of a word at its beginning: half a secret is not recognized. */
function lastOf(text: string): string {
  return text.length <= COMPLAINT_BYTES ? text : text.slice(-COMPLAINT_BYTES).replace(/^\S+/, "");
}

type Wire = Pick<typeof Sdk, "deserializeMessage" | "serializeMessage">;

export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;
  /** The SDK takes a transport with these two for a process, and does not take silence for an outage. */
  readonly pid: number | undefined;
  readonly stderr = null;
  /** Why it was ended by us. */
  failure: string | undefined;
  readonly #process: ServerProcess;
  readonly #wire: Wire;
  readonly #limits: StreamLimits;
  #pieces: Buffer[] = [];
  #lineBytes = 0;
  #bytes = 0;
  #complaint = "";
  #closed = false;

  constructor(process: ServerProcess, wire: Wire, limits: Partial<StreamLimits> = {}) {
    this.#process = process;
    this.#wire = wire;
    this.#limits = { ...LIMITS, ...limits };
    this.pid = process.pid;
  }

  async start(): Promise<void> {
    const { stdout, stderr, stdin, ended } = this.#process;
    stdout.on("data", (chunk: Buffer) => this.#take(chunk));
    stderr.on("data", (chunk: Buffer) => {
      this.#complaint = lastOf(`${this.#complaint}${chunk.toString("utf8")}`);
    });
    // Written to a server that has just ended.
    stdin.on("error", () => undefined);
    void ended.then(
      () => this.#over(),
      () => this.#over(),
    );
  }

  /** The last of what the server printed for people. */
  get complaint(): string {
    return lastPart(this.#complaint);
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) throw new Error("the server has ended");
    this.#bytes = 0;
    await new Promise<void>((resolve) => {
      // A server that does not read must not hold up its caller, who has a time limit.
      this.#process.stdin.write(this.#wire.serializeMessage(message), () => resolve());
      setTimeout(resolve, 1_000).unref();
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#process.stdin.end();
    const { endMs } = this.#limits;
    const timer = setTimeout(() => this.#process.kill(), endMs);
    await this.#process.ended.catch(() => undefined);
    clearTimeout(timer);
    this.#over();
  }

  #take(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#limits.floodBytes) {
      this.#end(`it sent more than ${this.#limits.floodBytes} bytes without being asked`);
      return;
    }
    let rest = chunk;
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      this.#line(Buffer.concat([...this.#pieces, rest.subarray(0, end)]));
      this.#pieces = [];
      this.#lineBytes = 0;
      rest = rest.subarray(end + 1);
      if (this.#closed) return;
    }
    this.#lineBytes += rest.length;
    if (this.#lineBytes > this.#limits.lineBytes) {
      this.#end(`one message of it is longer than ${this.#limits.lineBytes} bytes`);
      return;
    }
    if (rest.length > 0) this.#pieces.push(rest);
  }

  /** Some servers print words for people where only messages belong: such lines are left out. */
  #line(bytes: Buffer): void {
    const text = bytes.toString("utf8").trim();
    if (!text.startsWith("{") && !text.startsWith("[")) return;
    let message: JSONRPCMessage;
    try {
      message = this.#wire.deserializeMessage(text);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    this.onmessage?.(message);
  }

  #end(why: string): void {
    this.failure = why;
    this.#pieces = [];
    this.#process.kill();
    this.#over();
  }

  #over(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.onclose?.();
  }
}
