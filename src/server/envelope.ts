/** The one shape of every answer, the same as the command line's `--format json`. */
import { maskedError, maskedErrorChain } from "../app/base/masked-error.ts";
import { AgentsError } from "../domain/errors/errors.ts";
import type { Environment } from "../domain/values/environment.ts";
import { spellRequest } from "./spell.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Timed {
  /** "plan apply"; "" where no operation is meant. */
  readonly command: string;
  readonly startedAt: number;
  readonly begun: number;
}

export interface AnswerMessage {
  readonly level: "info" | "warning" | "error";
  readonly text: string;
}

export function begin(command: string): Timed {
  return { command, startedAt: Date.now(), begun: performance.now() };
}

export function resultAnswer(data: unknown, messages: readonly AnswerMessage[], timed: Timed): Answer {
  return {
    status: 200,
    headers: {},
    body: { command: timed.command, status: "ok", exit_code: 0, data, messages, timing: timing(timed) },
  };
}

/** An error that is not part of the interface is a defect: the log has its story, the answer only that there is one. */
export function errorAnswer(
  error: unknown,
  timed: Timed,
  { environment, defect }: { readonly environment: Environment; readonly defect: (story: string) => void },
): Answer {
  if (!(error instanceof AgentsError)) defect(maskedErrorChain(error, environment));
  const known = error instanceof AgentsError ? maskedError(error, environment) : defectError();
  const { exit, http } = known.meaning;
  return {
    status: http,
    headers: headersOf(known),
    body: {
      command: timed.command,
      status: "error",
      exit_code: exit,
      data: {},
      error: {
        code: known.code.toUpperCase(),
        message: known.message,
        detail: known.detail,
        kept: known.kept ?? null,
        suggestions: known.next.map(spellRequest),
      },
      messages: [{ level: "error", text: known.message }],
      timing: timing(timed),
    },
  };
}

function headersOf({ code, detail }: AgentsError): Record<string, string> {
  if (code === "not_authenticated") return { "www-authenticate": 'Bearer realm="cleveragents"' };
  if (code === "too_many_attempts") return { "retry-after": String(detail["retry_after_seconds"]) };
  if (code === "server_busy") return { "retry-after": "1" };
  // The rest of the body is not read.
  if (code === "request_too_large") return { connection: "close" };
  if (code === "wrong_method") return { allow: String(detail["allowed"]) };
  return {};
}

function defectError(): AgentsError {
  return new AgentsError("internal", "Something unexpected went wrong: this is a defect.", {
    next: [{ text: "the log of the server has more; report what it says" }],
  });
}

function timing({ startedAt, begun }: Timed): Record<string, unknown> {
  return { started: new Date(startedAt).toISOString(), duration_ms: Math.round(performance.now() - begun) };
}
