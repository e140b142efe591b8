/**
 * Puts a completion script where its shell finds it. fish reads its directory of completions by itself; bash and zsh
 * get a line in the user's own file, written once. Repeated, it brings the script up to date.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Environment } from "../../domain/values/environment.ts";

export interface Installed {
  /** The files of the script. */
  readonly files: readonly string[];
  /** The user's own file that got a line; undefined where none was needed. */
  readonly startFile: string | undefined;
}

const MARK = "# agents completion";

export function installCompletion(shell: "bash" | "zsh" | "fish", script: string, environment: Environment): Installed {
  const home = set(environment["HOME"]) ?? homedir();
  if (shell === "fish") {
    const directory = join(set(environment["XDG_CONFIG_HOME"]) ?? join(home, ".config"), "fish", "completions");
    const files = ["agents", "cleveragents"].map((program) => join(directory, `${program}.fish`));
    write(files[0] ?? "", script);
    // fish loads the file of the program that is typed.
    write(files[1] ?? "", `# agents completion for fish\nsource ${files[0]}\n`);
    return { files, startFile: undefined };
  }
  const data = set(environment["XDG_DATA_HOME"]) ?? join(home, ".local", "share");
  const file = join(data, "cleveragents-completion", shell === "zsh" ? "_agents" : "agents.bash");
  write(file, script);
  const startFile = shell === "zsh" ? join(set(environment["ZDOTDIR"]) ?? home, ".zshrc") : join(home, ".bashrc");
  const before = textOf(startFile);
  const place = `'${file.replaceAll("'", String.raw`'\''`)}'`;
  const line = `[ -r ${place} ] && . ${place} ${MARK}`;
  if (before.split("\n").includes(line)) return { files: [file], startFile: undefined };
  const kept = before === "" || before.endsWith("\n") ? before : `${before}\n`;
  writeFileSync(startFile, `${kept}${line}\n`);
  return { files: [file], startFile };
}

/** An empty variable counts as one that is not set. */
function set(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}
