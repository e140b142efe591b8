/** A page of docs/ as a reader follows it: its shell blocks, in order, in one shell with a home of its own. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT, type Agents } from "./agents.ts";
import { allowCommands } from "./confinement.ts";
import { onTerminal } from "./pseudo-terminal.ts";

const PROGRAM = process.env["NODE_V8_COVERAGE"] === undefined ? "bin/agents" : "src/agents-program.ts";
/** Variables of the user who runs the tests; keys of models, for one, must not be found. */
const OF_THE_USER = /^(?:CLEVERAGENTS_.*|XDG_.*|GIT_.*|.*_API_KEY|.*_BASE_URL|FORCE_COLOR)$/;

/** The code blocks of a page in one language, in order. */
export function codeBlocks(page: string, language: string): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(([, code = ""]) => code);
}

export function pageText(path: string): string {
  return readFileSync(join(ROOT, "docs", path), "utf8");
}

/** The directory in which the reader types. */
export function placeOf(agents: Agents): string {
  return join(agents.directory, "work");
}

/** The file of a script as a reader would type it, and the variables of the reader's shell. */
async function prepared(agents: Agents, script: string): Promise<{ file: string; env: NodeJS.ProcessEnv }> {
  mkdirSync(placeOf(agents), { recursive: true });
  const config = agents.write("gitconfig", "[user]\nname = Me\nemail = me@example.org\n[init]\ndefaultBranch = main\n");
  await allowCommands(agents);
  const kept = Object.entries(process.env).filter(([name]) => !OF_THE_USER.test(name));
  const env = {
    ...Object.fromEntries(kept),
    ...agents.environment,
    HOME: agents.directory,
    GIT_CONFIG_GLOBAL: config,
    GIT_CONFIG_NOSYSTEM: "1",
    PAGER: "cat",
    CLEVERAGENTS_DATA_DIR: agents.dataDir,
  };
  const agentsFunction = `agents() { "${process.execPath}" "${join(ROOT, PROGRAM)}" "$@"; }`;
  const nodeFunction = `node() { "${process.execPath}" "$@"; }`;
  return { file: agents.write("typed.sh", `set -e\n${agentsFunction}\n${nodeFunction}\n${script}`), env };
}

/** Types a script where no one can be asked; a command that fails ends it with an error. Everything printed. */
export async function typed(agents: Agents, script: string): Promise<string> {
  const { file, env } = await prepared(agents, `exec 2>&1 < /dev/null\n${script}`);
  return (await promisify(execFile)("bash", [file], { cwd: placeOf(agents), env })).stdout;
}

/** Types a script at a terminal and says yes to every question; the exit code, and what was on the screen. */
export async function typedAtTerminal(agents: Agents, script: string): Promise<{ code: unknown; seen: string }> {
  const { file, env } = await prepared(agents, script);
  const [program = "", ...words] = onTerminal(["bash", file], { columns: 100, rows: 40 });
  const shell = spawn(program, words, { cwd: placeOf(agents), env: { ...env, TERM: "xterm-256color" } });
  let seen = "";
  shell.stdout.setEncoding("utf8").on("data", (text: string) => {
    seen += text;
    if (text.includes("[y/N]")) shell.stdin.write("y\r");
  });
  const [code] = (await once(shell, "close")) as [unknown];
  return { code, seen };
}

/**
 * The lines of the page's `text` blocks that were not printed, or not in the page's order; "…" stands for what differs
 * from run to run.
 */
export function notPrinted(page: string, output: string): string[] {
  const printed = output.split("\n");
  let from = 0;
  return codeBlocks(page, "text")
    .flatMap((block) => block.trimEnd().split("\n"))
    .filter((line) => {
      const pattern = new RegExp(`^${line.split("…").map(escaped).join(".*")}$`);
      const at = printed.findIndex((one, index) => index >= from && pattern.test(one));
      if (at !== -1) from = at + 1;
      return at === -1;
    });
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}
