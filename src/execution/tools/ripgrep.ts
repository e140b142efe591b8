/**
 * Searches a tree with ripgrep, which comes as a package with a binary for each platform. It takes 0.06 s for a tree of
 * 2,577 files, in which a scan in JavaScript takes 1.2 s, and its expressions take linear time. It follows no symbolic
 * link, reads no settings of the user, and prints in the order of the paths, so that the same tree gives the same
 * answer.
 */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { AgentsError } from "../../domain/errors/errors.ts";
import { shown } from "../../domain/text/text.ts";
import { STAGING_PREFIX } from "../sandbox/in-place-sandbox.ts";

/** Undefined where the package of this platform is not installed. */
export function ripgrepProgram(): string | undefined {
  try {
    const own = createRequire(import.meta.url);
    // Beside ripgrep's own package: package managers put that in different places.
    const beside = createRequire(own.resolve("@vscode/ripgrep"));
    const name = process.platform === "win32" ? "rg.exe" : "rg";
    return beside.resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/${name}`);
  } catch {
    return undefined;
  }
}

export interface RipgrepPlace {
  readonly program: string;
  /** Globs are relative to it. */
  readonly directory: string;
  /** Files that git ignores are left out. */
  readonly ignoring: boolean;
  readonly globs: readonly string[];
  readonly signal: AbortSignal;
}

export interface RipgrepLine {
  /** Relative to the directory. */
  readonly path: string;
  readonly line: number;
  /** A line beside one that matches. */
  readonly beside: boolean;
}

export interface RipgrepQuery {
  readonly pattern: string;
  readonly ignoreCase: boolean;
  readonly context: number;
  /** One match for each file is enough. */
  readonly filesOnly: boolean;
  /** The one file to search; otherwise the whole directory. */
  readonly file: string | undefined;
}

const TIMEOUT_MS = 20_000;

/** Lines as they are found, until `take` has enough and returns false. */
export async function matchingLines(
  place: RipgrepPlace,
  query: RipgrepQuery,
  take: (line: RipgrepLine) => boolean,
): Promise<void> {
  const args = [
    "--json",
    "--crlf",
    "--engine=auto",
    ...(query.ignoreCase ? ["--ignore-case"] : []),
    ...(query.context === 0 ? [] : [`--context=${query.context}`]),
    ...(query.filesOnly ? ["--max-count=1"] : []),
    "--regexp",
    query.pattern,
    "--",
    query.file === undefined ? "./" : `./${query.file}`,
  ];
  await printed(place, args, `The pattern ${shown(query.pattern)}`, (text) => {
    const found = foundLine(text);
    return found === undefined || take(found);
  });
}

/** The files of the directory that fit its globs. */
export async function matchingFiles(place: RipgrepPlace, take: (path: string) => boolean): Promise<void> {
  await printed(place, ["--files"], "The glob", (line) => take(plain(line)));
}

function foundLine(text: string): RipgrepLine | undefined {
  const { type, data } = JSON.parse(text) as {
    readonly type: string;
    readonly data: { readonly path?: { readonly text?: string }; readonly line_number?: number };
  };
  if (type !== "match" && type !== "context") return undefined;
  // A name that is not UTF-8 comes as bytes, and no tool could read it.
  const path = data.path?.text;
  if (path === undefined || data.line_number === undefined) return undefined;
  return { path: plain(path), line: data.line_number, beside: type === "context" };
}

function plain(path: string): string {
  return path.startsWith("./") ? path.slice(2) : path;
}

async function printed(
  { program, directory, ignoring, globs, signal }: RipgrepPlace,
  args: readonly string[],
  what: string,
  take: (line: string) => boolean,
): Promise<void> {
  const fixed = [
    "--no-config",
    "--hidden",
    "--sort=path",
    "--no-require-git",
    "--no-ignore-dot",
    "--no-ignore-global",
    ...(ignoring ? [] : ["--no-ignore"]),
    ...globs.map((glob) => `--glob=${glob}`),
    "--glob=!.git",
    `--glob=!${STAGING_PREFIX}*`,
  ];
  const deadline = AbortSignal.timeout(TIMEOUT_MS);
  const child = spawn(program, [...fixed, ...args], {
    cwd: directory,
    env: { PATH: "" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve));
  const kill = (): void => void child.kill("SIGKILL");
  using _stops = stopOn(AbortSignal.any([signal, deadline]), kill);
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (complaint += chunk.slice(0, 2_000)));
  let enough = false;
  for await (const line of createInterface({ input: child.stdout, crlfDelay: Infinity })) {
    if (take(line)) continue;
    enough = true;
    kill();
    break;
  }
  const code = await ended;
  signal.throwIfAborted();
  if (enough || code === 0 || code === 1) return;
  if (deadline.aborted) throw new AgentsError("tool_failed", `${what} takes more than ${TIMEOUT_MS / 1000} s.`);
  // 2 with output: some files could not be read, and the others were searched.
  if (/regex|glob|PCRE2/i.test(complaint))
    throw new AgentsError("tool_failed", `${what} is not valid: ${complaint.trim()}`);
}

function stopOn(signal: AbortSignal, stop: () => void): Disposable {
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  return { [Symbol.dispose]: () => signal.removeEventListener("abort", stop) };
}
