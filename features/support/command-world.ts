import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { After, setWorldConstructor, World } from "@cucumber/cucumber";

/** Runs `agents` as a user does: a new process each time, in an own working directory with an own data directory. */
export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const { FORCE_COLOR: _, ...environment } = process.env;
const root = new URL("../..", import.meta.url).pathname;
// Under coverage the sources run, so that what is reached counts; otherwise what a user has.
const program =
  process.env["NODE_V8_COVERAGE"] === undefined ? join(root, "bin/agents") : join(root, "src/cli/main.ts");

export class CommandWorld extends World {
  readonly directory: string = mkdtempSync(join(tmpdir(), "cleveragents-feature-"));
  /** Words in angle brackets that steps filled in: plan, head. */
  readonly words = new Map<string, string>();
  last: Finished = { code: null, stdout: "", stderr: "" };
  all: readonly Finished[] = [];

  get dataDir(): string {
    return join(this.directory, "data");
  }

  async run(line: string): Promise<Finished> {
    const [agents, ...args] = this.#split(line);
    if (agents !== "agents") throw new Error(`only agents can be run: ${line}`);
    const child = spawn(process.execPath, [program, ...args], {
      cwd: this.directory,
      env: { ...environment, CLEVERAGENTS_DATA_DIR: this.dataDir, NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on("close", resolve);
      child.on("error", reject);
    });
    return { code, stdout, stderr };
  }

  envelope(): Envelope {
    return JSON.parse(this.last.stdout) as Envelope;
  }

  #split(line: string): string[] {
    const filled = line.replaceAll(/<(\w+)(?::(\d+))?>/g, (whole, word: string, length: string | undefined) => {
      const value = this.words.get(word);
      return value === undefined ? whole : value.slice(0, length === undefined ? undefined : Number(length));
    });
    return (filled.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ""));
  }
}

export interface Envelope {
  readonly command: string;
  readonly status: string;
  readonly exit_code: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: string; readonly detail: Readonly<Record<string, unknown>> };
}

setWorldConstructor(CommandWorld);

After(function (this: CommandWorld) {
  rmSync(this.directory, { recursive: true, force: true });
});
