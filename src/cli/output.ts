import { AgentsError, ValidationError, type ValidationIssue } from "../domain/errors/errors.ts";
import type { OutputFormat } from "../domain/settings/settings.ts";
import { visibleJson } from "../domain/text/text.ts";
import { maskedError, maskedErrorChain } from "../app/base/masked-error.ts";
import type { Message, Outcome } from "./terminal/outcome.ts";
import { painter, render, screenFor, type HumanFormat, type Terminal } from "./terminal/render.ts";
import { spellNext } from "./words/spell-next.ts";
import { joined, type Text } from "./terminal/terminal-text.ts";

/**
 * The last step of every command: one envelope on stdout for machines, or a view for people with errors on stderr.
 * Nothing else writes to stdout.
 */
export interface Streams {
  readonly out: (text: Text) => void;
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
}

export async function writeOutcome(outcome: Outcome, run: Run, streams: Streams): Promise<number> {
  const exitCode = outcome.exitCode ?? (outcome.status === "error" ? 1 : 0);
  if (run.format === "json" || run.format === "yaml") {
    const { data, messages, status = "ok" } = outcome;
    streams.out(await encode(envelope(run, { status, exit_code: exitCode, data, messages }), run.format));
    return exitCode;
  }
  if (outcome.text !== undefined) {
    streams.out(outcome.text);
    return exitCode;
  }
  const screen = screenFor(run.format, streams.outTerminal);
  const paint = painter(screen);
  const view = render(outcome.view, screen);
  const parts = [
    ...(view.length === 0 ? [] : [view]),
    ...outcome.messages.map((message) => messageLine(message, screen.format, paint)),
    ...(outcome.next ?? []).map((step) => [paint("next:", "dim"), ` ${spellNext(step)}`]),
  ];
  streams.out([...joined(parts, "\n"), "\n"]);
  return exitCode;
}

function messageLine({ level, text }: Message, format: HumanFormat, paint: ReturnType<typeof painter>): Text {
  const fancy = format === "rich" || format === "color";
  switch (level) {
    case "info":
      return fancy ? [paint("✓", "good"), ` ${text}`] : `OK: ${text}`;
    case "warning":
      return fancy ? [paint("!", "warn"), ` ${text}`] : `WARNING: ${text}`;
    case "error":
      return fancy ? [paint("✗", "bad"), ` ${text}`] : `ERROR: ${text}`;
  }
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
    streams.out(await encode(envelope(run, body), run.format));
    return exitCode;
  }
  const paint = painter(screenFor(run.format, streams.errTerminal));
  const lines: Text[] = [[paint("error:", "bad"), ` ${known.message}`]];
  if (known instanceof ValidationError) lines.push(...known.issues.slice(0, 10).flatMap(issueLine));
  if (known.kept !== undefined) lines.push([paint("kept:", "dim"), `  ${known.kept}`]);
  if (known.next.length > 0) lines.push([paint("next:", "dim"), `  ${known.next.map(spellNext).join("  or  ")}`]);
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
function asAgentsError(error: unknown): AgentsError {
  if (error instanceof AgentsError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new AgentsError("internal", `Something unexpected went wrong: ${message}`, {
    cause: error,
    next: [{ text: "repeat the command with -v and report what it prints" }],
  });
}

function envelope(run: Run, body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const timing = { started: new Date(run.startedAt).toISOString(), duration_ms: Math.round(run.durationMs) };
  return { command: run.command, ...body, timing };
}

async function encode(value: Record<string, unknown>, format: "json" | "yaml"): Promise<string> {
  if (format === "json") return `${visibleJson(JSON.stringify(value, null, 2))}\n`;
  const { yamlText } = await import("./terminal/yaml-text.ts");
  return yamlText(value);
}
