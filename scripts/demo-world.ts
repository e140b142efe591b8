/** Where the demo happens: a temporary directory, and the commands that run in it the way a user runs them. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const AGENTS = join(import.meta.dirname, "..", "bin", "agents");
/** How long a command that was told to stop may take before it is killed. */
const GRACE_MS = 3_000;

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class DemoWorld implements AsyncDisposable {
  readonly directory: string;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #running = new Map<ChildProcess, Promise<unknown>>();
  #ended = false;

  static async make(): Promise<DemoWorld> {
    return new DemoWorld(await realpath(await mkdtemp(join(tmpdir(), "cleveragents-demo-"))));
  }

  private constructor(directory: string) {
    this.directory = directory;
    // The settings and the repository of the user who runs the demo do not affect it.
    const own = Object.entries(process.env).filter(([name]) => !/^(GIT|CLEVERAGENTS)_/.test(name));
    this.#environment = {
      ...Object.fromEntries(own),
      NO_COLOR: "1",
      FORCE_COLOR: undefined,
      GIT_CONFIG_GLOBAL: devNull,
      GIT_CONFIG_NOSYSTEM: "1",
      CLEVERAGENTS_DATA_DIR: join(directory, "data"),
    };
  }

  /** `place`: where the user is, below the directory. */
  async agents(args: readonly string[], onLine?: (line: string) => void, place = ""): Promise<Finished> {
    return this.#run(process.execPath, [AGENTS, ...args], onLine, place);
  }

  /** Runs lines that a reader would type into a shell, in `place`; the demo's directory is the reader's home. */
  async shell(place: string, script: string): Promise<Finished> {
    const agents = `agents() { "${process.execPath}" "${AGENTS}" "$@"; }`;
    const home = `export HOME="${this.directory}"; cd "${place}"`;
    return this.#run("bash", ["-c", `set -e\n${agents}\n${home}\n${script}`]);
  }

  async git(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.#run("git", ["-C", "shop", ...args]);
    if (code !== 0) throw new Error(`git ${args.join(" ")} failed: ${stderr}`);
    return stdout;
  }

  /** Everything a plan could have touched: files of both places, the branch, and what git thinks of the checkout. */
  async everything(): Promise<string> {
    const files = await Promise.all([this.#files("shop"), this.#files("manual")]);
    return JSON.stringify([files, await this.git("rev-parse", "HEAD"), await this.git("status", "--porcelain")]);
  }

  async read(path: string): Promise<string> {
    return readFile(join(this.directory, path), "utf8");
  }

  async #files(directory: string): Promise<string[][]> {
    const names = (await readdir(join(this.directory, directory))).filter((name) => name !== ".git").toSorted();
    return Promise.all(names.map(async (name) => [name, await this.read(join(directory, name))]));
  }

  async #run(program: string, args: readonly string[], onLine?: (line: string) => void, place = ""): Promise<Finished> {
    if (this.#ended) throw new Error("The demo was stopped.");
    // In a process group of its own: Ctrl-C reaches the demo alone, which then ends what it started.
    const child = spawn(program, args, {
      cwd: join(this.directory, place),
      env: this.#environment,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const finished = new Promise<Finished>((resolve, reject) => {
      let [stdout, stderr] = ["", ""];
      child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
      child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
      child.on("error", (error) => reject(new Error(`${program} cannot be started: ${error.message}`)));
      child.on("close", (code) => {
        if (this.#ended) reject(new Error("The demo was stopped."));
        else resolve({ code, stdout, stderr });
      });
    });
    if (onLine !== undefined) {
      for (const input of [child.stdout, child.stderr]) {
        createInterface({ input }).on("line", (line) => this.#ended || onLine(line));
      }
    }
    this.#running.set(
      child,
      finished.catch(() => undefined),
    );
    try {
      return await finished;
    } finally {
      this.#running.delete(child);
    }
  }

  /** Ends what still runs, and only then removes the directory: no process is left that could write into it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended = true;
    await Promise.all(
      [...this.#running].map(async ([child, finished]) => {
        child.kill("SIGTERM");
        const timer = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
        await finished;
        clearTimeout(timer);
      }),
    );
    await rm(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }
}
