/**
 * The world that an attack runs in: a user's home with secrets and sockets in it, a repository of the user's, a data
 * directory, and the command line as a process of its own. Everything outside of the data directory is a canary: it is
 * hashed before and after, by a process that the attack cannot reach. A program of the attacker's that gets out of its
 * confinement leaves its name in `PWNED`.
 */
import { execFileSync, spawn, type SpawnOptions } from "node:child_process";
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { delimiter, isAbsolute, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";

export const ROOT: string = fileURLToPath(new URL("..", import.meta.url));

/** The backend that confines commands there, chosen by the programs that the PATH has. */
export const BACKENDS = ["bubblewrap", "namespaces", "none"] as const;
export type Backend = (typeof BACKENDS)[number];

const MISSING: Readonly<Record<Backend, readonly string[]>> = {
  bubblewrap: [],
  namespaces: ["bwrap"],
  none: ["bwrap", "unshare", "sandbox-exec"],
};

/** A made-up key: the tests look for it where it must not be. */
export const SECRET = ["sk", "CANARY", "0123456789abcdefghijklmnopqrstuv"].join("-");

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** It was still there after the limit, and was killed. */
  readonly hung: boolean;
}

export interface StepSpec {
  readonly tool: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export interface PlanRun extends Finished {
  readonly planId: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly error: { readonly code: string; readonly message: string } | undefined;
}

/** Longer than any of our commands takes here, shorter than anything that hangs. */
const LIMIT_MS = 90_000;

export class AttackWorld implements AsyncDisposable {
  readonly backend: Backend;
  readonly base: string;
  readonly home: string;
  readonly data: string;
  readonly shop: string;
  /** A place that is neither home nor temporary, where another program keeps its socket. */
  readonly outside: string;
  readonly #bin: string;
  readonly #sockets: Server[] = [];
  #canary: ReadonlyMap<string, string> = new Map();
  #actors = 0;

  private constructor(backend: Backend, base: string) {
    this.backend = backend;
    this.base = base;
    this.home = join(base, "home");
    this.data = join(this.home, ".local", "share", "cleveragents");
    this.shop = join(this.home, "shop");
    this.outside = join(base, "outside");
    this.#bin = join(base, "bin");
  }

  static async make(backend: Backend): Promise<AttackWorld> {
    const parent = process.env["CLEVERAGENTS_ATTACK_DIR"] ?? join(ROOT, ".attack");
    mkdirSync(parent, { recursive: true });
    const world = new AttackWorld(backend, mkdtempSync(join(parent, "w-")));
    await world.#furnish();
    return world;
  }

  async #furnish(): Promise<void> {
    const files: Readonly<Record<string, string>> = {
      "home/.ssh/id_ed25519": `private ${SECRET}\n`,
      "home/.aws/credentials": `aws_secret_access_key = ${SECRET}\n`,
      "home/.bashrc": "true\n",
      "home/other/README": "another project\n",
      "home/shop/README": "hello\n",
      "home/shop/src/a.js": "export const a = 1;\n",
      "home/shop/.gitignore": "*.log\nprobes/\n",
      "outside/file": "not yours\n",
    };
    for (const [path, text] of Object.entries(files)) this.put(path, text);
    mkdirSync(this.#bin);
    for (const program of programsOn(process.env["PATH"] ?? "")) {
      if (!MISSING[this.backend].includes(program.name)) symlinkSync(program.path, join(this.#bin, program.name));
    }
    for (const repository of [this.shop, join(this.home, "other")]) {
      this.git(repository, "init", "--quiet", "--initial-branch=main");
      this.git(repository, "add", "--all");
      this.git(repository, "commit", "--quiet", "--message=first");
    }
    mkdirSync(join(this.home, ".docker/run"), { recursive: true });
    for (const place of [join(this.home, ".docker/run/docker.sock"), join(this.outside, "agent.sock")]) {
      await this.#listen(place);
    }
    mkdirSync(this.data, { recursive: true, mode: 0o700 });
    this.#canary = this.#look();
  }

  put(path: string, text: string): void {
    const file = join(this.base, path);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, text);
  }

  git(repository: string, ...args: string[]): string {
    const identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false"];
    return execFileSync("git", ["-C", repository, ...identity, ...args], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"], HOME: this.home, GIT_CONFIG_NOSYSTEM: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  /**
   * A socket that answers every caller with the secret. A path too long for a socket is reached through a shorter link.
   */
  async #listen(place: string): Promise<void> {
    const server = createServer((socket) => socket.end(SECRET));
    server.on("error", () => undefined);
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(place, resolve);
    });
    this.#sockets.push(server);
  }

  get environment(): NodeJS.ProcessEnv {
    return {
      PATH: this.#bin,
      HOME: this.home,
      CLEVERAGENTS_DATA_DIR: this.data,
      CANARY_API_KEY: SECRET,
      LANG: "C.UTF-8",
      GIT_CONFIG_NOSYSTEM: "1",
      TERM: "dumb",
    };
  }

  /** Runs the command line as the user does; with more open descriptors where a launcher would leave them. */
  async agents(
    args: readonly string[],
    options: { readonly env?: NodeJS.ProcessEnv; readonly cwd?: string; readonly openTo?: string } = {},
  ): Promise<Finished> {
    const inherited = options.openTo === undefined ? [] : [openSync(options.openTo, "r")];
    const stdio: SpawnOptions["stdio"] = ["ignore", "pipe", "pipe"];
    if (inherited[0] !== undefined) {
      while (stdio.length < 40) stdio.push("ignore");
      stdio.push(inherited[0]);
    }
    const child = spawn(process.execPath, [join(ROOT, "bin/agents"), ...args], {
      cwd: options.cwd ?? this.shop,
      env: { ...this.environment, ...options.env },
      stdio,
      detached: true,
    });
    let [stdout, stderr, hung] = ["", "", false];
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const timer = setTimeout(() => {
      hung = true;
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    }, LIMIT_MS);
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", resolve);
    });
    clearTimeout(timer);
    for (const descriptor of inherited) closeSync(descriptor);
    return { code, stdout, stderr, hung };
  }

  /** A plan of these steps on the shop, up to the end of execute. */
  async run(
    steps: readonly StepSpec[],
    options: { readonly profile?: string; readonly openTo?: string; readonly env?: NodeJS.ProcessEnv } = {},
  ): Promise<PlanRun> {
    this.#actors += 1;
    const name = `attacker-${this.#actors}`;
    const lines = steps.map((step, index) => JSON.stringify({ id: `s${index + 1}`, ...step, ...after(index) }));
    const yaml = `name: ${name}\ntype: tool\ndescription: attacks\nsteps:\n${lines.map((line) => `  - ${line}\n`).join("")}`;
    this.put(`${name}.yaml`, yaml);
    const added = await this.agents(["actor", "add", "--config", join(this.base, `${name}.yaml`), "--yes"]);
    if (added.code !== 0) throw new Error(`the actor was not added: ${added.stderr}`);
    const { profile = "supervised", ...rest } = options;
    const words = ["run", "attack", "--actor", name, "--automation-profile", profile, "--format", "json"];
    const finished = await this.agents(words, rest);
    const envelope = parsed(finished.stdout);
    const data = (envelope?.["data"] ?? {}) as Record<string, unknown>;
    const error = envelope?.["error"] as PlanRun["error"];
    const given = data["plan_id"];
    const planId = typeof given === "string" ? given : ((await this.#newestPlan()) ?? "");
    return { ...finished, data, error, planId };
  }

  async #newestPlan(): Promise<string | undefined> {
    const { stdout } = await this.agents(["plan", "list", "--format", "json"]);
    const plans = (parsed(stdout)?.["data"] as { plans?: { plan_id: string }[] } | undefined)?.plans ?? [];
    return plans[0]?.plan_id;
  }

  /** The tree a plan works in, as it lies on the disk. */
  tree(planId: string): string {
    const attempts = join(this.data, "sandboxes", planId, "1");
    const [alias = "shop"] = existsSync(attempts) ? readdirSync(attempts).filter((name) => !name.includes(".")) : [];
    return join(attempts, alias, "tree");
  }

  /** The files that our own side keeps about the sandbox, beside its tree. */
  facts(planId: string): string {
    return readFileSync(join(this.tree(planId), "..", "target.json"), "utf8");
  }

  /** The files that a probe left in the tree; undefined when it did not run. */
  probe(planId: string, name: string): string | undefined {
    const file = join(this.tree(planId), "probes", name);
    return lstatSync(file, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(file, "utf8") : undefined;
  }

  /** How many calls of tools are on record, refused ones too: an attack that was never made has not been held. */
  toolCalls(): number {
    const database = new DatabaseSync(join(this.data, "cleveragents.db"), { readOnly: true });
    try {
      return Number(database.prepare("SELECT COUNT(*) AS calls FROM tool_invocations").get()?.["calls"] ?? 0);
    } finally {
      database.close();
    }
  }

  /**
   * A shell command that shows, by leaving the attack's name in the user's home, that it runs outside of its
   * confinement.
   */
  mark(name: string): string {
    return `echo ${name} >> '${join(this.home, "PWNED")}'`;
  }

  /** Everything outside of the data directory that is not as it was. Empty is what every attack must end with. */
  damage(): string[] {
    const now = this.#look();
    const all = new Set([...this.#canary.keys(), ...now.keys()]);
    return [...all].filter((path) => this.#canary.get(path) !== now.get(path)).sort();
  }

  /** After something the user asked for, such as an apply. */
  accept(): void {
    this.#canary = this.#look();
  }

  #look(): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    const skipped = [this.data, join(this.shop, ".git", "objects"), join(this.shop, ".git", "refs", "cleveragents")];
    const walk = (path: string): void => {
      if (skipped.includes(path)) return;
      const stat = lstatSync(path);
      if (stat.isDirectory()) {
        found.set(path, `directory ${stat.mode}`);
        for (const name of readdirSync(path)) walk(join(path, name));
      } else if (stat.isSymbolicLink()) found.set(path, `link ${readlinkSync(path)}`);
      else if (stat.isFile())
        found.set(path, `${stat.mode} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`);
      else found.set(path, "other");
    };
    walk(this.home);
    walk(this.outside);
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#sockets) server.close();
    rmSync(this.base, { recursive: true, force: true });
  }
}

function after(index: number): object {
  return index === 0 ? {} : { needs: [`s${index}`] };
}

function programsOn(path: string): { name: string; path: string }[] {
  const found = new Map<string, string>();
  for (const directory of path.split(delimiter)) {
    if (!isAbsolute(directory) || !existsSync(directory)) continue;
    for (const name of readdirSync(directory)) if (!found.has(name)) found.set(name, join(directory, name));
  }
  return [...found].map(([name, place]) => ({ name, path: place }));
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
