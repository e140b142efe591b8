/** `agents help`: the help of a command, or a page of docs/, which lies beside the program. It reads nothing else. */
import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { NotFoundError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { nearest } from "../../domain/text/suggest.ts";
import type { Outcome } from "../terminal/outcome.ts";
import { COMMANDS, GROUPS, SUBGROUPS } from "./command-table.ts";
import { buildProgram } from "./program.ts";

const DOCS = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "../../../docs/" : "../docs/", import.meta.url));

interface Page {
  readonly topic: string;
  readonly title: string;
  readonly howTo: boolean;
  readonly text: string;
}

/** `words`: "plan undo", "undo-one-decision"; none for the list of topics. */
export function help(words: readonly string[], columns: number): Outcome {
  const wanted = words.join(" ").toLowerCase();
  const pages = allPages();
  if (wanted === "") return topics(pages);
  const named = pages.find(({ topic }) => topic === wanted.replace(/^docs\//, "").replace(/\.md$/, ""));
  const path = pathOf(wanted);
  // A word can be both: the command comes first, and its help names the page.
  if (path !== undefined) return commandHelp(path, columns, named);
  if (named === undefined) throw unknownTopicError(words.join(" "), pages);
  const { topic, title } = named;
  return { data: { topic, title, text: named.text }, view: [], messages: [], text: readable(named), isLong: true };
}

function allPages(): Page[] {
  return globSync(["*.md", "how-to/*.md"], { cwd: DOCS })
    .filter((file) => file !== "README.md")
    .map((file) => {
      const text = readFileSync(`${DOCS}${file}`, "utf8");
      const [, title = file] = /^# (.*)$/m.exec(text) ?? [];
      return { topic: basename(file, ".md").toLowerCase(), title, howTo: file.startsWith("how-to"), text };
    })
    .toSorted((a, b) => (a.topic < b.topic ? -1 : 1));
}

function topics(pages: readonly Page[]): Outcome {
  const wide = Math.max(0, ...pages.map(({ topic }) => topic.length));
  const list = (howTo: boolean): string =>
    pages
      .filter((page) => page.howTo === howTo)
      .map(({ topic, title }) => `  ${topic.padEnd(wide)}  ${shortened(title, 76 - wide)}\n`)
      .join("");
  const text = [
    "agents help TOPIC shows a page, agents help COMMAND the help of a command.\n",
    `\nHow to:\n${list(true)}`,
    `\nMore pages:\n${list(false)}`,
    "\nCommands: agents --help\n",
  ].join("");
  const data = { topics: pages.map(({ topic, title, howTo }) => ({ topic, title, how_to: howTo })) };
  return { data, view: [], messages: [], text, isLong: true };
}

/** A title that is too long for its line says the rest after a colon or a comma. */
function shortened(title: string, columns: number): string {
  return title.length <= columns ? title : (title.split(/[:,]/)[0] ?? title);
}

/** The command or group of these words, also by another name it has. */
function pathOf(wanted: string): string | undefined {
  const groups = [...Object.keys(GROUPS), ...Object.keys(SUBGROUPS)];
  if (groups.includes(wanted)) return wanted;
  const parent = wanted.split(" ").slice(0, -1).join(" ");
  const last = wanted.split(" ").at(-1) ?? "";
  return COMMANDS.find(
    ({ path, aliases = [] }) =>
      path === wanted || aliases.some((alias) => path.split(" ").slice(0, -1).join(" ") === parent && alias === last),
  )?.path;
}

function commandHelp(path: string, columns: number, page: Page | undefined): Outcome {
  const printed: string[] = [];
  buildProgram((text) => printed.push(text), columns).parse([...path.split(" "), "--help"]);
  if (page !== undefined) printed.push(`\nThe page "${page.title}": agents help ${page.topic}.md\n`);
  const text = printed.join("");
  return { data: { topic: path, title: `agents ${path}`, text }, view: [], messages: [], text };
}

/** As in the file, but a link to a page says how to read it here. */
function readable({ text }: Page): string {
  return text
    .split(/(^```.*?^```$)/ms)
    .map((part) =>
      part.startsWith("```")
        ? part
        : part.replaceAll(
            /\[([^\]]+)\]\((?:\.\.\/|how-to\/)*([\w-]+)\.md(?:#[\w-]*)?\)/g,
            (_, words: string, topic: string) => `${words} (agents help ${topic.toLowerCase()}.md)`,
          ),
    )
    .join("");
}

function unknownTopicError(wanted: string, pages: readonly Page[]): NotFoundError {
  const known = [...pages.map(({ topic }) => topic), ...Object.keys(GROUPS), ...COMMANDS.map(({ path }) => path)];
  const suggestion = nearest(wanted, known);
  return new NotFoundError("topic", wanted, {
    ...(suggestion === undefined ? {} : { detail: { suggestion } }),
    next: [
      ...(suggestion === undefined ? [] : [nextStep("help", { topic: suggestion.split(" ") }, "did you mean")]),
      nextStep("help"),
    ],
  });
}
