/** The surroundings of a call in this process, without a terminal: standard input is a text, and output is kept. */
import { tmpdir } from "node:os";
import { Readable } from "node:stream";
import type { Environment } from "../../domain/values/environment.ts";
import type { IoParts } from "../terminal/io.ts";

export interface CapturedIo extends IoParts {
  readonly written: { stdout: string; stderr: string };
}

export function capturedIo(
  parts: {
    readonly env?: Environment;
    readonly cwd?: string;
    readonly input?: string;
    readonly signal?: AbortSignal;
  } = {},
): CapturedIo {
  const written = { stdout: "", stderr: "" };
  return {
    stdin: Readable.from(parts.input === undefined || parts.input === "" ? [] : [parts.input]),
    stdout: { write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text) },
    env: parts.env ?? {},
    cwd: parts.cwd ?? tmpdir(),
    signal: parts.signal,
    written,
  };
}
