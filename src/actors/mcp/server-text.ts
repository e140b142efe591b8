/** Texts of servers in messages of ours: one line, masked and cut. */
import { printable } from "../../domain/text/text.ts";
import { maskedText } from "../../platform/masking.ts";

export function oneLine(text: string, limit = 300): string {
  const line = maskedText(printable(text)).replaceAll(/\s+/g, " ").trim();
  return line.length <= limit ? line : `${line.slice(0, limit).toWellFormed()}…`;
}

/** The last lines of what a program printed. */
export function lastPart(text: string): string {
  return oneLine(text.trimEnd().split("\n").slice(-4).join(" | "));
}
