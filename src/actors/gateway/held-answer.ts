/**
 * An answer of which something waits until the port has agreed to it: all of it, or everything from its first call on.
 * Agents carry out a call as soon as they have read it, and some answers go on for long after that, or break off.
 */
import type { ServerResponse } from "node:http";

/** In each dialect a call begins with one of these; within a text there is a backslash before the quotation mark. */
const CALL =
  /(?<!\\)"(?:type"\s*:\s*"(?:\w+_call|tool_use|server_tool_use)"|(?:tool_calls|function_call|functionCall)"\s*:)/;
/** Of what was read before: a mark may come in two pieces. */
const LONGEST_MARK = 64;

export class HeldAnswer {
  readonly #response: ServerResponse;
  readonly #pieces: Uint8Array[] = [];
  #head: readonly [status: number, headers: Record<string, string>] | undefined;
  #holds: boolean;
  #last = "";

  constructor(response: ServerResponse, held: "all" | "calls") {
    this.#response = response;
    this.#holds = held === "all";
  }

  writeHead(status: number, headers: Record<string, string>): void {
    if (this.#holds) this.#head = [status, headers];
    else this.#response.writeHead(status, headers).flushHeaders();
  }

  /** True: the next piece may come. */
  write(piece: Uint8Array): boolean {
    this.#holds ||= this.#beginsCall(piece);
    if (!this.#holds) return this.#response.write(piece);
    this.#pieces.push(piece);
    return true;
  }

  #beginsCall(piece: Uint8Array): boolean {
    const text = this.#last + Buffer.from(piece).toString("latin1");
    this.#last = text.slice(-LONGEST_MARK);
    return CALL.test(text);
  }

  /** The client gets the rest. */
  end(): void {
    if (this.#head !== undefined) this.#response.writeHead(...this.#head);
    for (const piece of this.#pieces) this.#response.write(piece);
    this.#response.end();
  }

  /** The client never sees the rest. */
  destroy(): void {
    this.#response.destroy();
  }
}
