import { AgentsError, ValidationError, type ValidationIssue } from "../domain/errors/errors.ts";
import type { OutputFormat } from "../domain/settings/settings.ts";
import { visibleJson } from "../domain/text/text.ts";
import { maskedError, maskedErrorChain } from "../app/base/masked-error.ts";
import type { Message, Outcome } from "./terminal/outcome.ts";
import { painter, render, screenFor, type Screen, type Terminal } from "./terminal/render.ts";
import { spellNext } from "./words/spell-next.ts";
import { joined, width, wrapped, type Text } from "./terminal/terminal-text.ts";
import type { Tone } from "./terminal/view.ts";

/**
 * The last step of every command: one envelope on stdout for machines, or a view for people with errors on stderr.
 * Nothing else writes to stdout.
 */
export interface Streams {
  readonly out: (text: Text) => void;
  /** Shows a long text in the user's pager; false where there is none. */
  readonly page: (text: Text) => Promise<boolean>;
  readonly err: (text: Text) => void;
  readonly outTerminal: Terminal;
  readonly errTerminal: Terminal;
}

export interface Run {
  /** The command without its arguments: "plan use". */
  readonly command: string;
  readonly format: OutputFormat;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly verbose: boolean;
  /** The envelope is the last of the lines of events. */
  readonly events: boolean;
}

export async function writeOutcome(outcome: Outcome, run: Run, streams: Streams): Promise<number> {
  const exitCode = outcome.exitCode ?? (outcome.status === "error" ? 1 : 0);
  if (run.format === "json" || run.format === "yaml") {
    const { data, messages, status = "ok" } = outcome;
    streams.out(await encode(envelope(run, { status, exit_code: exitCode, data, messages }), run));
    return exitCode;
  }
  if (outcome.text !== undefined) {
    if (outcome.isLong !== true || !(await streams.page(outcome.text))) streams.out(outcome.text);
    return exitCode;
  }
  const screen = screenFor(run.format, streams.outTerminal);
  const paint = painter(screen);
  const view = render(outcome.view, screen);
  const parts = [
    ...(view.length === 0 ? [] : [view]),
    ...outcome.messages.flatMap((message) => messageLines(message, screen, paint)),
    ...(outcome.next ?? []).map((step) => [paint("next:", "dim"), ` ${spellNext(step)}`]),
  ];
  streams.out([...joined(parts, "\n"), "\n"]);
  return exitCode;
}

const MARKS = {
  info: { mark: "✓", tone: "good", word: "OK:" },
  warning: { mark: "!", tone: "warn", word: "WARNING:" },
  error: { mark: "✗", tone: "bad", word: "ERROR:" },
} as const satisfies Record<Message["level"], { mark: string; tone: Tone; word: string }>;

/** On a terminal, a message that is too long for a line continues below its text. */
function messageLines({ level, text }: Message, screen: Screen, paint: ReturnType<typeof painter>): Text[] {
  const { mark, tone, word } = MARKS[level];
  const fancy = screen.format === "rich" || screen.format === "color";
  return headed(fancy ? [mark, tone] : [word], text, screen.columns, paint);
}

/** Text behind a head, as wide as the terminal; nothing is broken where there is none. */
function headed(
  [head, tone]: readonly [string, Tone?],
  text: string,
  columns: number | undefined,
  paint: ReturnType<typeof painter>,
): Text[] {
  const first = tone === undefined ? head : paint(head, tone);
  const indent = width(head) + 1;
  const lines =
    columns === undefined ? [text] : text.split("\n").flatMap((line) => wrapped(line, Math.max(20, columns - indent)));
  return lines.map((line, at) => (at === 0 ? [first, ` ${line}`] : " ".repeat(indent) + line));
}

/** Says what happened, what was kept and how to continue; returns the exit code. */
export async function writeError(error: unknown, run: Run, streams: Streams): Promise<number> {
  const { environment } = streams.errTerminal;
  const known = maskedError(asAgentsError(error), environment);
  const exitCode = known.meaning.exit;
  if (run.format === "json" || run.format === "yaml") {
    const body = {
      status: "error",
      exit_code: exitCode,
      data: {},
      error: {
        code: known.code.toUpperCase(),
        message: known.message,
        detail: known.detail,
        kept: known.kept ?? null,
        suggestions: known.next.map(spellNext),
      },
      messages: [{ level: "error", text: known.message }],
    };
    streams.out(await encode(envelope(run, body), run));
    return exitCode;
  }
  const { columns, ...screen } = screenFor(run.format, streams.errTerminal);
  const paint = painter({ ...screen, columns });
  const lines: Text[] = headed(["error:", "bad"], known.message, columns, paint);
  if (known instanceof ValidationError) lines.push(...known.issues.slice(0, 10).flatMap(issueLine));
  if (known.kept !== undefined) lines.push(...headed(["kept: ", "dim"], known.kept, columns, paint));
  // One line for each, the most likely first; a command stays in one piece, fit to be copied.
  lines.push(...known.next.map((step): Text => [paint("next:", "dim"), `  ${spellNext(step)}`]));
  if (run.verbose) lines.push(maskedErrorChain(error, environment));
  streams.err([...joined(lines, "\n"), "\n"]);
  return exitCode;
}

/** In a file: where exactly. Elsewhere the message has said it all but the suggestion. */
function issueLine(issue: ValidationIssue): string[] {
  const suggestion = issue.suggestion === undefined ? "" : `did you mean "${issue.suggestion}"?`;
  if (issue.file === undefined) return suggestion === "" ? [] : [`  ${suggestion}`];
  const place = [issue.file, issue.line, issue.column].filter((part) => part !== undefined).join(":");
  const path = issue.path === "" ? "" : `${issue.path}: `;
  return [`  ${place}: ${path}${issue.message}${suggestion === "" ? "" : ` — ${suggestion}`}`];
}

/** Anything that is not part of the interface is a defect of ours, and is called one. */
export function asAgentsError(error: unknown): AgentsError {
  if (error instanceof AgentsError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new AgentsError("internal", `Something unexpected went wrong: ${message}`, {
    cause: error,
    next: [{ text: "repeat the command with -v and report what it prints" }],
  });
}

function envelope(run: Run, body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const timing = { started: new Date(run.startedAt).toISOString(), duration_ms: Math.round(run.durationMs) };
  return { ...(run.events ? { type: "result" } : {}), command: run.command, ...body, timing };
}

async function encode(value: Record<string, unknown>, { format, events }: Run): Promise<string> {
  if (events) return `${visibleJson(JSON.stringify(value))}\n`;
  if (format !== "yaml") return `${visibleJson(JSON.stringify(value, null, 2))}\n`;
  const { yamlText } = await import("./terminal/yaml-text.ts");
  return yamlText(value);
}
