import { Writable } from "node:stream";
import pc from "picocolors";
import { visible } from "../../domain/text/text.ts";
import { isList, type Movement, type Text } from "./terminal-text.ts";
import type { Tone } from "./view.ts";

/**
 * The gate between the program and a person's terminal. It stands at the streams themselves, so that everything written
 * to one passes it, also the output of a library or of Node: there, everything hidden becomes visible. Codes come from
 * `print` alone, which makes them from the parts of a text that are not strings.
 */
const ungated = new WeakMap<object, (text: string) => unknown>();

/** Where a call writes to. */
export interface Output extends Sink {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

/**
 * The stream behind a gate. One whose gate is closed is used as it is; another one is left alone, because it belongs to
 * the caller.
 */
export function gated(stream: Output): Output {
  if (ungated.has(stream)) return stream;
  const behind: Output = {
    write: (text) => stream.write(visible(text)),
    get isTTY() {
      return stream.isTTY;
    },
    get columns() {
      return stream.columns;
    },
    get rows() {
      return stream.rows;
    },
  };
  ungated.set(behind, (text) => stream.write(text));
  return behind;
}

/** Called once for each stream of the process, before anything is written. */
export function closeGate(stream: NodeJS.WriteStream): void {
  const write = stream.write.bind(stream);
  ungated.set(stream, (text) => write(text));
  stream.write = (
    chunk: string | Uint8Array,
    encoding?: BufferEncoding | ((error?: Error | null) => void),
    done?: (error?: Error | null) => void,
  ): boolean => {
    const text = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
    return write(visible(text), typeof encoding === "function" ? encoding : done);
  };
}

/** Something a text can be printed to. */
export interface Sink {
  readonly write: (text: string) => unknown;
}

export function print(sink: Sink, text: Text): void {
  const code = coded(text);
  const write = ungated.get(sink);
  if (write === undefined) sink.write(code);
  else write(code);
}

/** The text as a terminal is given it. */
export function coded(text: Text): string {
  if (typeof text === "string") return visible(text);
  if (isList(text)) return text.map(coded).join("");
  return "move" in text ? moved(text) : TONES[text.tone](visible(text.text));
}

const colors = pc.createColors(true);
const TONES = {
  good: colors.green,
  bad: colors.red,
  warn: colors.yellow,
  dim: colors.dim,
  strong: colors.bold,
  "good word": (text) => colors.inverse(colors.green(text)),
  "bad word": (text) => colors.inverse(colors.red(text)),
} as const satisfies Record<Tone, (text: string) => string>;

function moved(movement: Movement): string {
  switch (movement.move) {
    case "line start":
      return "\r";
    case "erase line":
      return "\u001b[K";
    case "erase below":
      return "\u001b[J";
    case "home":
      return "\u001b[H";
    // A screen of its own without a cursor; what stood there before comes back afterwards.
    case "enter screen":
      return "\u001b[?1049h\u001b[?25l";
    case "leave screen":
      return "\u001b[?25h\u001b[?1049l";
    case "up":
      return `\u001b[${movement.lines}A`;
  }
}

/** Where a protocol for another program is written, every byte as it is; never to a terminal. */
export function exactOutput(stream: Output): Writable {
  const write = ungated.get(stream) ?? ((text: string) => stream.write(text));
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      write(chunk.toString("utf8"));
      done();
    },
  });
}

/**
 * Where the line editor of a question draws. It has codes of its own, so it writes behind the gate: what it writes is
 * the prompt, which must have been made visible before, and what the person types.
 */
export function editorOutput(stream: Output): NodeJS.WritableStream {
  const write = ungated.get(stream) ?? ((text: string) => stream.write(text));
  const editor = new Writable({
    decodeStrings: false,
    write: (chunk: unknown, _encoding, done) => {
      write(String(chunk));
      done();
    },
  });
  return Object.assign(editor, { columns: stream.columns });
}
