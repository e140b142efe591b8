/**
 * Words become an operation's input: texts are read by the kind of each parameter, "-" is standard input, files are
 * read, paths are made absolute.
 */
import type { Parameter } from "../../app/base/operation.ts";
import { UsageError } from "../../domain/errors/errors.ts";
import { optionWord, type Command } from "./command-table.ts";
import { readDocument } from "./definition-file.ts";
import type { Io } from "../terminal/io.ts";

export interface Words {
  readonly positional: readonly unknown[];
  /** By the names commander gives: the option's word in camelCase. */
  readonly options: Readonly<Record<string, unknown>>;
}

export async function inputOf(command: Command, words: Words, io: Io): Promise<Record<string, unknown>> {
  const input: Record<string, unknown> = {};
  const positional = givenPositional(command, words.positional);
  let position = 0;
  for (const parameter of command.parameters) {
    const { name } = parameter;
    if (parameter.kind === "here") {
      input[name] = io.cwd;
      continue;
    }
    const given = parameter.positional === true ? positional[position++] : words.options[optionKey(parameter)];
    const isGiven = given !== undefined && !(Array.isArray(given) && given.length === 0);
    if (isGiven) input[name] = await valueOf(parameter, given, io);
    else if (parameter.required === true) throw missingParameterError(command, parameter);
  }
  return input;
}

/** With an argument that may be left out in front of one that must be given, a single word is the latter. */
function givenPositional({ parameters }: Command, given: readonly unknown[]): readonly unknown[] {
  const [first, second] = parameters.filter(({ positional }) => positional === true);
  const isMissing = given[1] === undefined || (Array.isArray(given[1]) && given[1].length === 0);
  if (first?.required === true || second?.required !== true || !isMissing || given[0] === undefined) return given;
  return [undefined, ...given.slice(0, 1)];
}

/** The parser sees to arguments; of options it does not know which are required. */
function missingParameterError({ path }: Command, parameter: Parameter): UsageError {
  if (parameter.positional === true) {
    return missingArgumentError(path, parameter);
  }
  const option = `--${optionWord(parameter)}`;
  return new UsageError(`${option} is missing: ${parameter.about}.`, {
    kept: "Nothing was written.",
    next: [{ text: `agents ${path} ${option} <${parameter.value ?? "value"}>` }],
  });
}

/** An argument in the form of the errors for options. */
export function missingArgumentError(path: string, { name, value, about }: Parameter): UsageError {
  return new UsageError(`<${value ?? name}> is missing: ${about}.`, {
    kept: "Nothing was written.",
    next: [{ text: `agents ${path} --help` }],
  });
}

/** The options that only the command line has. */
export function ownOptionsOf(command: Command, words: Words): Readonly<Record<string, unknown>> {
  return Object.fromEntries(command.ownOptions.map((option) => [option.name, words.options[optionKey(option)]]));
}

function optionKey(parameter: Parameter): string {
  const word = parameter.on === true ? optionWord(parameter).slice("no-".length) : optionWord(parameter);
  return word.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

async function valueOf(parameter: Parameter, given: unknown, io: Io): Promise<unknown> {
  const { kind = "text" } = parameter;
  switch (kind) {
    case "flag":
      return given === true;
    case "words": {
      const text = Array.isArray(given) ? given.join(" ") : String(given);
      return text === "-" ? (await io.readInput()).trim() : text;
    }
    case "integer":
      return wholeNumber(parameter, String(given));
    case "number":
      return decimal(parameter, String(given));
    case "pairs":
      return pairs(parameter, Array.isArray(given) ? given.map(String) : [String(given)]);
    case "path":
      // An empty path would mean the working directory: left as it is, the operation refuses it.
      return given === "" ? "" : io.path(String(given));
    case "document":
      return readDocument(io, String(given));
    case "command":
      return Array.isArray(given) ? given.map(String) : [String(given)];
    case "here":
      return io.cwd;
    case "text":
      return parameter.many === true && Array.isArray(given) ? given.map(String) : String(given);
  }
}

function spelled(parameter: Parameter): string {
  return parameter.positional === true ? parameter.name : `--${optionWord(parameter)}`;
}

function wholeNumber(parameter: Parameter, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError(`${spelled(parameter)} must be a whole number, not "${text}".`, {
    kept: "Nothing was changed.",
  });
}

function decimal(parameter: Parameter, text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value)) return value;
  throw new UsageError(`${spelled(parameter)} must be a number, not "${text}".`, { kept: "Nothing was changed." });
}

/** `name=value` words; a name given twice collects a list. */
function pairs(parameter: Parameter, words: readonly string[]): Record<string, unknown> {
  const given = new Map<string, string | string[]>();
  for (const word of words) {
    const equals = word.indexOf("=");
    if (equals < 1) {
      const form = `write ${spelled(parameter)} ${parameter.value ?? "name=value"}`;
      throw new UsageError(`"${word}" does not name a value: ${form}.`, { kept: "Nothing was written." });
    }
    const name = word.slice(0, equals);
    const value = word.slice(equals + 1);
    const before = given.get(name);
    given.set(name, before === undefined ? value : [...(typeof before === "string" ? [before] : before), value]);
  }
  return Object.fromEntries(given);
}
