/**
 * The list of commands for people, made from the table of operations that help and completion are made from too:
 * `docs/commands.md` whole, and the list in the README between its two marks. With them go the pages of the other
 * tables: settings and errors.
 */
import { readFileSync } from "node:fs";
import * as z from "zod";
import type { Parameter } from "../../src/app/base/operation.ts";
import { isOperation, OPERATIONS } from "../../src/app/table/operation-table.ts";
import { COMMANDS, GROUPS, optionWord, SUBGROUPS, type Command } from "../../src/cli/words/command-table.ts";
import { spellCall } from "../../src/cli/words/spell-next.ts";
import { errorsPage } from "./errors-page.ts";
import type { GeneratedPage } from "./generated-page.ts";
import { settingsPage } from "./settings-page.ts";

const PAGE = "docs/commands.md";
const README = "README.md";
const BEGIN = "<!-- made by npm run commands -->";
const END = "<!-- end -->";

export async function commandPages(): Promise<GeneratedPage[]> {
  const readme = readFileSync(README, "utf8");
  const [before = "", rest = ""] = readme.split(BEGIN);
  const [, after] = rest.split(END);
  if (after === undefined) throw new Error(`${README} does not have the marks of the command list`);
  return [
    { file: PAGE, text: await commandsPage() },
    settingsPage(),
    errorsPage(),
    { file: README, text: before + BEGIN + groupList() + END + after },
  ];
}

/** Groups under their heading, in the order of help. */
function headings(): Map<string, [group: string, summary: string][]> {
  const groups = Object.entries(GROUPS).map(([name, { heading, summary }]) => {
    const own = COMMANDS.find(({ path }) => path === name)?.summary;
    return { heading: heading.replace(":", ""), name, summary: summary || (own ?? "") };
  });
  return new Map(
    [...Map.groupBy(groups, ({ heading }) => heading)].map(([heading, members]) => [
      heading,
      members.map(({ name, summary }): [string, string] => [name, summary]),
    ]),
  );
}

function groupList(): string {
  const lists = [...headings()].map(([heading, groups]) => {
    const links = groups.map(([name]) => `[\`${name}\`](docs/commands.md#${name})`);
    return `${heading}: ${links.join(", ")}.`;
  });
  return ` ${lists.join(" ")} `;
}

async function commandsPage(): Promise<string> {
  const parts = [
    "# Commands\n",
    "Made by `npm run commands` from the table of operations; do not edit. `agents COMMAND --help` prints the same.",
    "A program calls the same operations by their names, with the parameters' names in camelCase: see",
    "[library.md](library.md).\n",
    "Every command takes `--format rich|color|table|plain|json|yaml`, `--data-dir <path>`, `--config-path <path>`,",
    "`--verbose`, `--plain-progress`, `--events` and `--help`. A command that asks before it does something takes `--yes`.\n",
  ];
  for (const [heading, groups] of headings()) {
    parts.push(`**${heading}**\n`, "| command | |", "|---|---|");
    for (const [name, summary] of groups) parts.push(`| [\`${name}\`](#${name}) | ${summary} |`);
    parts.push("");
  }
  for (const name of Object.keys(GROUPS)) {
    parts.push(`## ${name}\n`);
    if (GROUPS[name]?.summary) parts.push(`${GROUPS[name].summary}.\n`);
    for (const command of COMMANDS.filter(({ path }) => path === name || path.startsWith(`${name} `)))
      parts.push(await section(command));
  }
  return parts.join("\n");
}

async function section(command: Command): Promise<string> {
  const { path, name, summary, aliases = [], role, parameters, ownOptions, example } = command;
  const places = parameters.filter((one) => one.positional === true).map(placeOf);
  const subgroup = SUBGROUPS[path.split(" ").slice(0, 2).join(" ")];
  const facts = [
    `${summary}.`,
    aliases.length === 0 ? "" : `Also \`${aliases.join("`, `")}\`.`,
    isOperation(name) ? `Operation \`${name}\`, for the role ${role} and above.` : "",
    subgroup === undefined ? "" : `(${subgroup}.)`,
  ];
  const rows = await parameterRows(name, [...parameters.filter(({ kind }) => kind !== "here"), ...ownOptions]);
  return [
    ...(path in GROUPS ? [] : [`### ${path}\n`]),
    `${facts.filter(Boolean).join(" ")}\n`,
    `\`\`\`sh\n${spellCall(name, example)}\n\`\`\`\n`,
    ...(rows.length === 0
      ? []
      : [
          ...(places.length === 0 ? [] : [`\`agents ${[path, ...places].join(" ")}\`\n`]),
          "| parameter | type | |",
          "|---|---|---|",
          ...rows,
          "",
        ]),
  ].join("\n");
}

function placeOf({ name, value, required, many, kind }: Parameter): string {
  const word = `${value ?? name}${many === true || kind === "words" || kind === "command" ? "..." : ""}`;
  return required === true ? `<${word}>` : `[${word}]`;
}

async function parameterRows(name: string, parameters: readonly Parameter[]): Promise<string[]> {
  const defaults = await defaultsOf(name);
  return parameters.map((parameter) => {
    const spelled = parameter.positional === true ? placeOf(parameter) : optionOf(parameter);
    const value = defaults.get(parameter.name);
    const about = [parameter.about, value === undefined ? "" : `(otherwise ${value})`].filter(Boolean).join(" ");
    return `| \`${spelled}\` | ${typeOf(parameter)} | ${about.replaceAll("|", "\\|")} |`;
  });
}

function optionOf(parameter: Parameter): string {
  const { short, kind, value } = parameter;
  const word = `--${optionWord(parameter)}${kind === "flag" ? "" : ` <${value ?? "text"}>`}`;
  return short === undefined ? word : `-${short}, ${word}`;
}

function typeOf({ kind = "text", many, choices, required }: Parameter): string {
  const type = choices === undefined ? KINDS[kind] : choices.join(", ");
  return [type, many === true ? "several" : "", required === true ? "required" : ""].filter(Boolean).join("; ");
}

const KINDS = {
  text: "text",
  words: "words",
  flag: "flag",
  integer: "whole number",
  number: "number",
  pairs: "name=value; several",
  path: "path",
  document: "file",
  command: "words of a program",
  here: "directory",
} satisfies Record<NonNullable<Parameter["kind"]>, string>;

/** The values that the operation's schema fills in, except "no" for a flag. */
async function defaultsOf(name: string): Promise<Map<string, string>> {
  if (!isOperation(name)) return new Map();
  const { operation } = await OPERATIONS[name].load();
  if (!(operation.input instanceof z.ZodObject)) return new Map();
  return new Map(
    Object.entries<z.ZodType>(operation.input.shape).flatMap(([key, field]) => {
      if (!(field instanceof z.ZodDefault)) return [];
      const value: unknown = field.def.defaultValue;
      const isTelling = (typeof value === "string" && value !== "") || typeof value === "number";
      return isTelling ? [[key, String(value)] as const] : [];
    }),
  );
}
