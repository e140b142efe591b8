/**
 * Spells a call of an operation as the command a user types. The table says which arguments stand by position and in
 * which order; all others become options. A placeholder such as `<guidance>` stays as it is, so that a user sees what
 * to replace.
 */
import type { Parameter } from "../../app/base/operation.ts";
import type { NextStep } from "../../domain/errors/next-step.ts";
import { COMMANDS, optionWord } from "./command-table.ts";

export function spellNext(step: NextStep): string {
  if ("text" in step) return step.text;
  const { operation, note, arguments: given = {} } = step;
  const command = spellCall(operation, given);
  return note === undefined ? command : `${note}: ${command}`;
}

export function spellCall(operation: string, given: Readonly<Record<string, unknown>>): string {
  const entry = COMMANDS.find((command) => command.name === operation);
  const parameters = [...(entry?.parameters ?? []), ...(entry?.ownOptions ?? []), ...GLOBAL];
  const positional = parameters.filter((parameter) => parameter.positional === true);
  // Arguments of several words stand last.
  const prose = positional.filter(({ kind }) => kind === "words");
  const program = positional.filter(({ kind }) => kind === "command").flatMap(({ name }) => words(given[name]));
  const places = positional.filter(({ kind }) => kind !== "words" && kind !== "command");
  const values = ({ name, kind }: Parameter): string[] =>
    words(given[name]).map((word) => quoted(word, kind === "words"));
  const options = Object.keys(given).flatMap((name) => {
    const parameter = parameters.find((one) => one.name === name) ?? { name, about: "" };
    return parameter.positional === true ? [] : spelledOption(parameter, given[name]);
  });
  return [
    "agents",
    operation.replaceAll(".", " "),
    ...places.flatMap(values),
    ...options,
    ...prose.flatMap(values),
    ...(program.length === 0 ? [] : ["--", ...program.map((word) => quoted(word, false))]),
  ].join(" ");
}

const GLOBAL: readonly Parameter[] = [{ name: "verbose", kind: "flag", about: "" }];

function spelledOption(parameter: Parameter, value: unknown): string[] {
  const word = `--${optionWord(parameter)}`;
  if (typeof value === "boolean") return value === (parameter.on !== true) ? [word] : [];
  const prose = parameter.value === "text";
  return words(value).flatMap((text) => [word, quoted(text, prose)]);
}

/** A list is several words; a record is several `name=value`; a file is its name. */
function words(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number" || typeof value === "boolean") return [String(value)];
  if (Array.isArray(value)) return value.flatMap(words);
  if (typeof value !== "object" || value === null) return [];
  if ("file" in value) return words(value.file);
  return Object.entries(value).flatMap(([name, one]) => words(one).map((text) => `${name}=${text}`));
}

/**
 * As a shell reads it back as one word. A text that holds a placeholder is for a person to complete, not for a shell.
 */
function quoted(word: string, prose: boolean): string {
  if (/<[^<>]+>/.test(word)) return prose ? `"${word}"` : word;
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return prose && !/["$`\\!]/.test(word) ? `"${word}"` : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
