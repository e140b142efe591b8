import { Command, CommanderError, Option, type Argument } from "commander";
import { UsageError } from "../domain/errors.ts";
import { OUTPUT_FORMATS } from "../domain/settings.ts";
import { nearest } from "../domain/suggest.ts";
import { Input, type CommandSpec, type OptionSpec } from "./command-spec.ts";
import { COMMANDS, GROUPS, SUBGROUPS } from "./commands.ts";

/** Turns the table of commands into a commander program. */
export interface ParsedCall {
  readonly spec: CommandSpec;
  readonly input: Input;
}

export interface ParsedGlobals {
  readonly format?: string | undefined;
  readonly dataDir?: string | undefined;
  readonly configPath?: string | undefined;
  readonly verbose: number;
}

export interface Program {
  /** What is to be run; "overview" for `agents` alone; undefined when help was printed instead. */
  readonly parse: (argv: readonly string[]) => ParsedCall | "overview" | undefined;
  readonly globals: () => ParsedGlobals;
}

export function buildProgram(print: (text: string) => void, columns: number): Program {
  let call: ParsedCall | "overview" | undefined;
  let verbose = 0;
  const root = new Command("agents")
    .description("Plans carried out by AI agents on your repositories, many at a time.")
    .addOption(new Option("-f, --format <format>", "how output looks").choices(OUTPUT_FORMATS))
    .option("--data-dir <path>", "where everything is kept")
    .option("--config-path <path>", "the configuration file")
    .option("-v, --verbose", "say more; shows the cause of errors", () => (verbose += 1))
    .option("-V, --version", "print the version")
    .addHelpText(
      "after",
      '\nExamples:\n  agents run "answer 200 when the database is down"\n  agents plan use fix-bug shop --arg issue=42',
    );
  const configure = (command: Command): Command =>
    command
      .exitOverride()
      .showSuggestionAfterError(true)
      .configureHelp({ helpWidth: Math.min(columns, 80), subcommandTerm: term })
      .configureOutput({ writeOut: print, writeErr: () => undefined });
  configure(root);
  root.allowExcessArguments().action((options: { version?: boolean }) => {
    refuseUnknown(root);
    call = options.version === true ? { spec: specOf("version"), input: new Input([], {}) } : "overview";
  });

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
      made.outputHelp();
    });
    groups.set(path, made);
    return made;
  };
  for (const spec of COMMANDS) {
    const { parent, name } = splitPath(spec.path);
    const command = configure(groupOf(parent).command(name).description(spec.summary));
    if (parent === "") command.helpGroup(GROUPS[name]?.heading ?? "");
    for (const alias of spec.aliases ?? []) command.alias(alias);
    if (spec.arguments !== undefined) command.arguments(spec.arguments);
    for (const option of spec.options ?? []) command.addOption(commanderOption(option));
    command.addHelpText("after", `\nExample:\n  ${spec.example}`);
    command.action((...all: unknown[]) => {
      const options = all.at(-2) as Record<string, unknown>;
      call = { spec, input: new Input(all.slice(0, -2), options) };
    });
  }
  const globals = (): ParsedGlobals => {
    const { format, dataDir, configPath } = root.opts<{ format?: string; dataDir?: string; configPath?: string }>();
    return { format, dataDir, configPath, verbose };
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
      next: [full(suggestion === undefined ? "--help" : suggestion)],
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

function specOf(path: string): CommandSpec {
  const spec = COMMANDS.find((candidate) => candidate.path === path);
  if (spec === undefined) throw new Error(`no command ${path}`);
  return spec;
}

function commanderOption({ flags, description, choices, repeatable }: OptionSpec): Option {
  const option = new Option(flags, description);
  if (choices !== undefined) option.choices(choices);
  if (repeatable === true) {
    option.argParser((value: string, previous: string[] | undefined) => [...(previous ?? []), value]);
  }
  return option;
}

/** Commander's complaint as one of ours; undefined when it only wants to end after printing help. */
function usageError(error: CommanderError, argv: readonly string[]): UsageError | undefined {
  if (error.exitCode === 0 || error.code === "commander.help") return undefined;
  const [first = "", hint = ""] = error.message.replace(/^error: /, "").split("\n");
  const suggestion = /Did you mean (?:one of )?(.+)\?/.exec(hint)?.[1];
  const message = `${first.charAt(0).toUpperCase()}${first.slice(1)}${suggestion === undefined ? "" : ` — did you mean ${suggestion}?`}`;
  const path = commandPath(argv);
  return new UsageError(message, {
    detail: suggestion === undefined ? {} : { suggestion },
    next: [["agents", path, "--help"].filter(Boolean).join(" ")],
  });
}

const WITH_VALUE = new Set(["-f", "--format", "--data-dir", "--config-path"]);

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
