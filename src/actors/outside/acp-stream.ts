/**
 * The messages of an agent program, read from its standard output. Notices are handed on in the order in which they
 * came: the SDK would handle them concurrently and print those it does not know. Only requests, and answers to our own
 * requests, reach the SDK. Everything that the program can make large has a bound.
 */
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { isObject } from "../../domain/definition/spelling.ts";
import type { AgentPipes } from "./agent-port.ts";

/** Bytes of one line. */
const LONGEST_LINE = 32 * 1024 * 1024;
/** Bytes of lines that are not messages; a few warnings of a program are common. */
const MOST_GARBAGE = 1024 * 1024;
/** Requests of the program that wait for an answer of ours. */
const MOST_REQUESTS = 100;

interface Hearing {
  /** Each notification, in order. */
  readonly notice: (method: string, params: unknown) => void;
  /** The program cannot be understood any more. */
  readonly problem: (message: string) => void;
  /** Its output ended; it may live on. */
  readonly ended: () => void;
}

type Message = Readonly<Record<string, unknown>>;

export function acpStream({ input, output }: AgentPipes, hearing: Hearing): Stream {
  const asked = new Set<unknown>();
  const open = new Set<unknown>();
  const sorted = new MessageSorter(asked, open, hearing);
  // A program that ended does not read any more; that it ended is known by other means.
  input.on("error", () => undefined);
  return {
    readable: new ReadableStream<AnyMessage>({
      start: (controller) => void pump(output, sorted, hearing, controller),
      cancel: () => void output.destroy(),
    }),
    writable: new WritableStream<AnyMessage>({
      write: (message) => {
        if ("method" in message && "id" in message) asked.add(message.id);
        if (!("method" in message)) open.delete(message.id);
        return new Promise((sent) => input.write(`${JSON.stringify(message)}\n`, () => sent()));
      },
    }),
  };
}

async function pump(
  output: AgentPipes["output"],
  sorted: MessageSorter,
  hearing: Hearing,
  controller: ReadableStreamDefaultController<AnyMessage>,
): Promise<void> {
  const lines = new Lines();
  try {
    for await (const chunk of output) {
      for (const line of lines.push(chunk as Buffer)) {
        const message = sorted.take(line);
        if (message !== undefined) controller.enqueue(message);
      }
    }
    hearing.ended();
  } catch (error) {
    hearing.problem(error instanceof Error ? error.message : String(error));
    try {
      controller.error(error);
    } catch {
      // The stream was given up already.
    }
  }
}

class MessageSorter {
  readonly #asked: Set<unknown>;
  readonly #open: Set<unknown>;
  readonly #hearing: Hearing;
  #garbage = 0;

  constructor(asked: Set<unknown>, open: Set<unknown>, hearing: Hearing) {
    this.#asked = asked;
    this.#open = open;
    this.#hearing = hearing;
  }

  /** The message that the line holds if it is for the SDK. */
  take(line: string): AnyMessage | undefined {
    const message = parsed(line);
    if (message === undefined) return this.#isGarbage(line);
    const { id, method, params } = message;
    if (typeof method === "string") {
      if (!("id" in message)) {
        this.#hearing.notice(method, params);
        return undefined;
      }
      this.#open.add(id);
      if (this.#open.size > MOST_REQUESTS) throw new Error(`it asked ${MOST_REQUESTS} things at once`);
      return message as AnyMessage;
    }
    if (this.#asked.delete(id) && "result" in message !== "error" in message) return message as AnyMessage;
    return this.#isGarbage(line);
  }

  #isGarbage(line: string): undefined {
    this.#garbage += line.length;
    if (this.#garbage > MOST_GARBAGE) throw new Error("it prints something that is not the protocol");
    return undefined;
  }
}

function parsed(line: string): Message | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Splits bytes into lines; a line is copied once, however many chunks it has. */
class Lines {
  #parts: Buffer[] = [];
  #size = 0;

  *push(chunk: Buffer): Generator<string> {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#parts.push(chunk.subarray(start, end));
      const line = Buffer.concat(this.#parts).toString("utf8").trim();
      this.#parts = [];
      this.#size = 0;
      start = end + 1;
      if (line !== "") yield line;
    }
    this.#parts.push(chunk.subarray(start));
    this.#size += chunk.length - start;
    if (this.#size > LONGEST_LINE) throw new Error(`it sent a message of more than ${LONGEST_LINE} bytes`);
  }
}
