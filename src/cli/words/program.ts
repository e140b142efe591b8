import { Argument, Command, CommanderError, Option } from "commander";
import { UsageError } from "../../domain/errors/errors.ts";
import { OUTPUT_FORMATS } from "../../domain/settings/settings.ts";
import { nearest } from "../../domain/text/suggest.ts";
import type { Parameter } from "../../app/base/operation.ts";
import { COMMANDS, GROUPS, optionWord, SUBGROUPS, type Command as TableCommand } from "./command-table.ts";
import { missingArgumentError, type Words } from "./input-words.ts";
import { spellCall } from "./spell-next.ts";

/** Turns the table of commands into a commander program. */
export interface ParsedCall {
  readonly command: TableCommand;
  readonly words: Words;
}

export interface ParsedGlobals {
  readonly format?: string | undefined;
  readonly dataDir?: string | undefined;
  readonly store?: string | undefined;
  readonly configPath?: string | undefined;
  readonly verbose: number;
  /** Progress as plain lines, also on a terminal. */
  readonly plainProgress: boolean;
  /** Each event as a line of JSON, and the result as the last one. */
  readonly events: boolean;
}

export interface Program {
  /** The command to run; "overview" for `agents` alone; undefined when help was printed instead. */
  readonly parse: (argv: readonly string[]) => ParsedCall | "overview" | undefined;
  readonly globals: () => ParsedGlobals;
}

/** `served` names the command that a group without words stands for; undefined for its help. */
export function buildProgram(
  print: (text: string) => void,
  columns: number,
  served: (group: string) => string | undefined = () => undefined,
): Program {
  let call: ParsedCall | "overview" | undefined;
  let verbose = 0;
  const configure: Configure = (command) =>
    command
      .exitOverride()
      .showSuggestionAfterError(true)
      .configureHelp({ helpWidth: Math.min(columns, 80), subcommandTerm: term })
      .configureOutput({ writeOut: print, writeErr: () => undefined });
  const root = configure(rootCommand(() => (verbose += 1)));
  root.allowExcessArguments().action((options: { version?: boolean }) => {
    refuseUnknown(root);
    call =
      options.version === true ? { command: commandAt("version"), words: { positional: [], options: {} } } : "overview";
  });
  const groupOf = groupsBelow(root, configure, (group) => {
    const path = served(group);
    if (path !== undefined) call = { command: commandAt(path), words: { positional: [], options: {} } };
    return path !== undefined;
  });
  const order = Object.keys(GROUPS);
  const place = ({ path }: TableCommand): number => order.indexOf(path.split(" ")[0] ?? "");
  for (const entry of COMMANDS.toSorted((left, right) => place(left) - place(right))) {
    const command = configure(commanderCommand(entry, groupOf(splitPath(entry.path).parent)));
    command.action((...all: unknown[]) => {
      call = { command: entry, words: { positional: all.slice(0, -2), options: all.at(-2) as Words["options"] } };
    });
  }
  const globals = (): ParsedGlobals => {
    const { plainProgress = false, events = false, ...named } = root.opts<Partial<ParsedGlobals>>();
    const { format, dataDir, store, configPath } = named;
    return { format, dataDir, store, configPath, verbose, plainProgress, events };
  };
  const parse = (argv: readonly string[]): ParsedCall | "overview" | undefined => {
    try {
      root.parse([...argv], { from: "user" });
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
      const usage = usageError(error, argv);
      if (usage !== undefined) throw usage;
    }
    return call;
  };
  return { parse, globals };
}

type Configure = (command: Command) => Command;

function rootCommand(onVerbose: () => number): Command {
  return new Command("agents")
    .description("Plans carried out by AI agents on your repositories, many at a time.")
    .addOption(new Option("-f, --format <format>", "how output looks").choices(OUTPUT_FORMATS))
    .option("--data-dir <path>", "where everything is kept")
    .option("--store <address>", "a PostgreSQL database that machines share")
    .option("--config-path <path>", "the configuration file")
    .option("-v, --verbose", "say more; shows the cause of errors", onVerbose)
    .option("--plain-progress", "progress as plain lines, for screen readers")
    .option("--events", "print each event as a line of JSON, then the result as one")
    .option("-V, --version", "print the version")
    .addHelpText(
      "after",
      '\nExamples:\n  agents run "answer 200 when the database is down"\n  agents plan use fix-bug shop --arg issue=42',
    );
}

/** The command of a group, such as "resource type", made when its first member asks for it. */
function groupsBelow(
  root: Command,
  configure: Configure,
  isServed: (group: string) => boolean,
): (path: string) => Command {
  const groups = new Map<string, Command>([["", root]]);
  const groupOf = (path: string): Command => {
    const known = groups.get(path);
    if (known !== undefined) return known;
    const { parent, name } = splitPath(path);
    const made = configure(
      groupOf(parent)
        .command(name)
        .description(GROUPS[path]?.summary ?? SUBGROUPS[path] ?? "")
        .helpGroup(GROUPS[path]?.heading ?? ""),
    );
    made.allowExcessArguments().action(() => {
      refuseUnknown(made, path);
      if (!isServed(path)) made.outputHelp();
    });
    groups.set(path, made);
    return made;
  };
  return groupOf;
}

function commanderCommand(entry: TableCommand, group: Command): Command {
  const { parent, name } = splitPath(entry.path);
  const command = group.command(name).description(entry.summary);
  if (parent === "") command.helpGroup(GROUPS[name]?.heading ?? "");
  for (const alias of entry.aliases ?? []) command.alias(alias);
  const [first] = entry.parameters.filter((parameter) => parameter.positional === true);
  for (const parameter of entry.parameters) {
    if (parameter.kind === "here") continue;
    // One in front of it may be left out: whether it was given is told when the words are read.
    const follows = first?.required !== true && parameter !== first;
    if (parameter.positional === true) command.addArgument(commanderArgument(parameter, follows));
    else command.addOption(commanderOption(parameter));
  }
  for (const option of entry.ownOptions) command.addOption(commanderOption(option));
  return command
    .allowExcessArguments(false)
    .addHelpText("after", `\nExample:\n  ${spellCall(entry.name, entry.example)}`);
}

/** A word where a command should be is a mistyped command. */
function refuseUnknown(parent: Command, group?: string): void {
  const [word] = parent.args;
  if (word === undefined) return;
  const suggestion = nearest(
    word,
    parent.commands.flatMap((command) => [command.name(), ...command.aliases()]),
  );
  const full = (name: string): string => ["agents", group, name].filter(Boolean).join(" ");
  throw new UsageError(
    `There is no command "${full(word)}"${suggestion === undefined ? "" : ` — did you mean "${full(suggestion)}"?`}`,
    {
      detail: suggestion === undefined ? {} : { suggestion },
      next: [{ text: full(suggestion === undefined ? "--help" : suggestion) }],
    },
  );
}

function term(command: Command): string {
  const names = [command.name(), ...command.aliases()].join(", ");
  return [names, ...command.registeredArguments.map((argument) => usageOf(argument))].join(" ");
}

function usageOf(argument: Argument): string {
  const text = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${text}>` : `[${text}]`;
}

function commandAt(path: string): TableCommand {
  const command = COMMANDS.find((candidate) => candidate.path === path);
  if (command === undefined) throw new Error(`There is no command ${path}.`);
  return command;
}

function commanderArgument({ name, value, required, many, kind, about }: Parameter, follows: boolean): Argument {
  const word = `${value ?? name}${many === true || kind === "words" || kind === "command" ? "..." : ""}`;
  return new Argument(required === true && !follows ? `<${word}>` : `[${word}]`, about);
}

function commanderOption(parameter: Parameter): Option {
  const { kind, value, short, about, choices, many } = parameter;
  const word = `--${optionWord(parameter)}${kind === "flag" ? "" : ` <${value ?? "text"}>`}`;
  const option = new Option(short === undefined ? word : `-${short}, ${word}`, about);
  if (choices !== undefined) option.choices(choices);
  if (many === true || kind === "pairs") {
    option.argParser((text: string, previous: string[] | undefined) => [...(previous ?? []), text]);
  }
  return option;
}

/** Commander's complaint as one of ours; undefined when it only wants to end after printing help. */
function usageError(error: CommanderError, argv: readonly string[]): UsageError | undefined {
  if (error.exitCode === 0 || error.code === "commander.help") return undefined;
  const path = commandPath(argv);
  const [, missing] = /missing required argument '([\w.]+)'/.exec(error.message) ?? [];
  const parameter = COMMANDS.find((one) => one.path === path)?.parameters.find(
    ({ name, value = name }) => missing?.replace(/\.+$/, "") === value,
  );
  if (parameter !== undefined) return missingArgumentError(path, parameter);
  const [first = "", hint = ""] = error.message.replace(/^error: /, "").split("\n");
  const suggestion = /Did you mean (?:one of )?(.+)\?/.exec(hint)?.[1];
  const message = `${first.charAt(0).toUpperCase()}${first.slice(1)}${suggestion === undefined ? "" : ` — did you mean ${suggestion}?`}`;
  return new UsageError(message, {
    detail: suggestion === undefined ? {} : { suggestion },
    next: [{ text: ["agents", path, "--help"].filter(Boolean).join(" ") }],
  });
}

const WITH_VALUE = new Set(["-f", "--format", "--data-dir", "--store", "--config-path"]);

/** The command or group that the words name, as far as they name one. */
export function commandPath(argv: readonly string[]): string {
  const words = argv.filter((word, index) => !word.startsWith("-") && !WITH_VALUE.has(argv[index - 1] ?? ""));
  const command = COMMANDS.find(({ path, aliases = [] }) => {
    const { parent, name } = splitPath(path);
    const depth = parent === "" ? 0 : parent.split(" ").length;
    return words.slice(0, depth).join(" ") === parent && [name, ...aliases].includes(words[depth] ?? "");
  });
  if (command !== undefined) return command.path;
  const [first = "", second = ""] = words;
  if (Object.hasOwn(SUBGROUPS, `${first} ${second}`)) return `${first} ${second}`;
  return Object.hasOwn(GROUPS, first) ? first : "";
}

/** "resource type list" is "list" in the group "resource type"; a command of one word is in the group "". */
function splitPath(path: string): { parent: string; name: string } {
  const cut = path.lastIndexOf(" ");
  return { parent: path.slice(0, Math.max(cut, 0)), name: path.slice(cut + 1) };
}
