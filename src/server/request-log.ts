/** The log of a server, on standard error: one line for each request and for each thing that happens to the server. */
import type { Environment } from "../domain/values/environment.ts";
import { maskedLine } from "../app/base/masked-error.ts";

export const LOG_FORMATS = ["plain", "json"] as const;
export const LOG_LEVELS = ["debug", "info", "warning", "error"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];
export type LogLevel = (typeof LOG_LEVELS)[number];

export type LogFacts = Readonly<Record<string, string | number>>;

export class ServerLog {
  readonly #write: (text: string) => void;
  readonly #format: LogFormat;
  readonly #least: number;
  readonly #environment: Environment;

  constructor(parts: {
    readonly write: (text: string) => void;
    readonly format: LogFormat;
    readonly level: LogLevel;
    readonly environment: Environment;
  }) {
    this.#write = parts.write;
    this.#format = parts.format;
    this.#least = LOG_LEVELS.indexOf(parts.level);
    this.#environment = parts.environment;
  }

  say(level: LogLevel, message: string, facts: LogFacts = {}): void {
    if (LOG_LEVELS.indexOf(level) < this.#least) return;
    const time = new Date().toISOString();
    const line =
      this.#format === "json"
        ? JSON.stringify({ time, level, message, ...facts })
        : [time, level.padEnd(7), plain(message), ...Object.entries(facts).map(pair)].join(" ");
    this.#write(maskedLine(line, this.#environment));
  }
}

function pair([key, value]: [string, string | number]): string {
  const text = String(value);
  return `${key}=${/^[\w./:-]+$/.test(text) ? text : JSON.stringify(text)}`;
}

/** The story of a defect has several lines. */
function plain(message: string): string {
  return message.replaceAll(/\s*\n\s*/g, " | ");
}
