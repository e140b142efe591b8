/**
 * One page of the book for each command. Which sections it has follows from the table of commands alone:
 *
 * - Help, and a typo in the command's last word: always.
 * - A missing argument: where the table requires one; then nothing is given.
 * - No data, one of each, 60 columns, a pipe, JSON: the example of the table, typed where there is nothing at all and
 *   where there is one of everything. A command that asks is told --yes, but not in the pipe: there it cannot ask.
 * - Many: where the table has a limit; 1,000 rows.
 * - JSON is of the first of the two that succeeds.
 * - 60 columns and the pipe are left out where they say the same as 80 columns.
 * - Commands that start another program, ask npm or go on until they are stopped have an error in place of the example;
 *   those that speak a protocol on their standard output have neither.
 *
 * A long text is cut in the middle.
 */
import { COMMANDS, type Command } from "../words/command-table.ts";
import { spellCall } from "../words/spell-next.ts";
import type { BookPlace, Printed } from "./book-place.ts";
import { PLANS } from "./book-world.ts";

const WIDE = 80;
const NARROW = 60;
const [HEAD, TAIL] = [45, 8];

/** The state of the plan that a command is for; a plan that is ready to review unless it is here. */
const PLAN_OF: Readonly<Record<string, keyof typeof PLANS>> = {
  "plan.undo": "applied",
  "plan.wait": "applied",
  "plan.redo": "undone",
  "plan.explain": "applied",
  "plan.resume": "stopped",
  "plan.errors": "stopped",
  "plan.revert": "stopped",
  "plan.execute": "waiting",
  "plan.prompt": "waiting",
  "plan.cancel": "not started",
  "plan.compare": "candidate",
  "plan.choose": "candidate",
};

/** The words with which they refuse. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  gateway: ["--budget", "a lot"],
  upgrade: [],
  "server.start": ["--port", "70000"],
  "jobs.work": ["--workers", "0"],
};

const PROTOCOLS: ReadonlySet<string> = new Set(["acp", "mcp.serve"]);

/** The names in examples that only the network has, and an id that cannot be known. */
const STAND_INS: Readonly<Record<string, string>> = {
  "ollama/qwen3": "scripted/transcript",
  "anthropic/claude-sonnet-4-5": "scripted/transcript",
  "01JABCDF": "",
};

export interface Book {
  readonly place: BookPlace;
  /** The id of the only attachment of a validation. */
  readonly attachment: string;
}

/** The page, and each line of a frame that is wider than its terminal. */
export async function pageOf(
  command: Command,
  book: Book,
): Promise<{ readonly page: string; readonly wide: string[] }> {
  const parts: string[] = [`# agents ${command.path}\n`];
  const wide: string[] = [];
  const { place } = book;
  const section = async (
    title: string,
    world: string | undefined,
    words: readonly string[],
    { columns, unless }: { readonly columns?: number; readonly unless?: Printed } = {},
  ): Promise<Printed> => {
    if (world !== undefined) place.load(world);
    const printed = await place.run(words, columns);
    if (columns !== undefined) wide.push(...tooWide(printed.text, columns).map((line) => `${title}: ${line}`));
    if (printed.text !== unless?.text) parts.push(`## ${title}\n`, fenced(words, printed));
    return printed;
  };
  const path = command.path.split(" ");
  await section("Help", undefined, [...path, "--help"], { columns: WIDE });
  await section("A typo", undefined, misspelled(path), { columns: WIDE });
  if (command.parameters.some(({ required }) => required)) {
    await section("A missing argument", undefined, path, { columns: WIDE });
  }
  if (PROTOCOLS.has(command.name)) return { page: parts.join("\n"), wide };
  const refused = REFUSED[command.name];
  if (refused !== undefined) {
    await section("An error", "one", [...path, ...refused], { columns: WIDE });
    await section("An error as JSON", "one", [...path, ...refused, "--format", "json"]);
    return { page: parts.join("\n"), wide };
  }
  const example = exampleOf(command, book);
  const yes = command.ownOptions.some(({ name }) => name === "yes") ? ["--yes"] : [];
  const none = await section("No data", "nothing", withOptions(example, yes), { columns: WIDE });
  const one = await section("One of each", "one", withOptions(example, yes), { columns: WIDE });
  if (command.parameters.some(({ name }) => name === "limit")) {
    await section("1,000 of them", "many", path, { columns: WIDE });
  }
  await section("60 columns", "one", withOptions(example, yes), { columns: NARROW, unless: one });
  await section("In a pipe", "one", example, { unless: one });
  const told = one.code !== 0 && none.code === 0 ? "nothing" : "one";
  await section("As JSON", told, withOptions(example, [...yes, "--format", "json"]));
  return { page: parts.join("\n"), wide };
}

export const PAGES: readonly Command[] = COMMANDS;

/** The file of a command's page. */
export function pageName({ path }: Command): string {
  return `${path.replaceAll(" ", "-")}.md`;
}

/** Two letters in the middle change places. */
function misspelled(path: readonly string[]): string[] {
  const last = path.at(-1) ?? "";
  const at = Math.max(0, Math.floor(last.length / 2) - 1);
  const swapped = last.slice(0, at) + last.charAt(at + 1) + last.charAt(at) + last.slice(at + 2);
  return [...path.slice(0, -1), swapped === last ? last.slice(0, -1) : swapped];
}

/** The words of the example, with what is there for its placeholders. */
function exampleOf({ name, example }: Command, { attachment }: Book): string[] {
  const plan = PLANS[PLAN_OF[name] ?? "ready"];
  const given = name === "validation.detach" ? { ...example, attachment } : example;
  return shellWords(spellCall(name, given))
    .slice(1)
    .map((word) => (word === "01JABCDE" ? plan : (STAND_INS[word] ?? word)))
    .filter((word) => word !== "");
}

/** Options stand before the words of another program. */
function withOptions(words: readonly string[], options: readonly string[]): string[] {
  const at = words.indexOf("--");
  return at === -1 ? [...words, ...options] : [...words.slice(0, at), ...options, ...words.slice(at)];
}

function shellWords(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? "",
  );
}

function typed(words: readonly string[]): string {
  return ["agents", ...words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `"${word}"`))].join(" ");
}

function fenced(words: readonly string[], { code, text }: Printed): string {
  const lines = text.trimEnd().split("\n");
  const cut = lines.length - HEAD - TAIL;
  const shown = cut <= 1 ? lines : [...lines.slice(0, HEAD), `⋮ (${cut} more lines)`, ...lines.slice(-TAIL)];
  const end = code === 0 ? [] : [`[exit code ${code}]`];
  return ["````text", `$ ${typed(words)}`, ...shown, ...end, "````", ""].join("\n");
}

/** Lines of frames and tables; scripts, patches and commands stay as they are, fit to be copied. */
function tooWide(text: string, columns: number): string[] {
  return text.split("\n").filter((line) => /^[│┌├└╭╰]/.test(line) && line.length > columns);
}
