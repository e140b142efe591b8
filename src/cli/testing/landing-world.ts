/**
 * A plan that is executed and ready to land: in a git checkout with its user's own unfinished work, and in a plain
 * directory, each with some dozens of files, so that landing takes long enough to be disturbed. It is made once; each
 * round begins from a copy of everything, including the data directory, put back at the same paths.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Agents, type Envelope } from "./agents.ts";
import { allowCommands } from "./confinement.ts";

/** Everything a user could see of both resources, line by line, so that a difference names its path. */
export type Resources = readonly string[];

export interface JournalFacts {
  readonly id: string;
  readonly kind: string;
  readonly direction: string | null;
  readonly outcome: string | null;
  readonly finished_at: number | null;
}

export class LandingWorld implements Disposable {
  readonly agents: Agents = new Agents();
  readonly repository: string = join(this.agents.directory, "my repo");
  readonly directory: string = join(this.agents.directory, "notes");
  /** The directory for temporary files of the commands, which separates them from those of other programs. */
  readonly temporary: string = join(this.agents.directory, "tmp");
  readonly #copies: string = mkdtempSync(join(tmpdir(), "cleveragents-copies-"));
  planId = "";

  /** Executed, not applied: saved as "executed". Its plan changes both resources, or only some. */
  static async build(resources: readonly string[] = ["api", "notes"]): Promise<LandingWorld> {
    const world = new LandingWorld();
    mkdirSync(world.temporary);
    world.agents.inOwnProcess({ TMPDIR: world.temporary });
    // Node keeps compiled code there, from the first process on.
    await world.agents.process(["version"]);
    writeFiles(world.repository);
    writeFiles(world.directory);
    world.git("init", "--quiet", "--template=", "--initial-branch=main");
    for (const [key, value] of Object.entries({ name: "Ann", email: "ann@example.org" }))
      world.git("config", `user.${key}`, value);
    world.git("add", "--all");
    world.git("commit", "--quiet", "--message=first");
    // The user's own: changed, staged, newly staged, not known to git.
    writeFileSync(join(world.repository, "mine/changed.txt"), "changed by its user\n");
    for (const name of ["staged.txt", "new.txt"])
      writeFileSync(join(world.repository, "mine", name), "staged by its user\n");
    world.git("add", "mine/staged.txt", "mine/new.txt");
    writeFileSync(join(world.repository, "mine/unknown.txt"), "not in git\n");
    world.planId = await world.#execute(resources);
    world.save("executed");
    return world;
  }

  async #execute(resources: readonly string[]): Promise<string> {
    const step = (resource: string): string =>
      `  - id: change-${resource}\n    tool: shell_execute\n    params: { resource: ${resource}, command: ${JSON.stringify(CHANGES)} }\n`;
    const steps = resources.map(step).join("");
    this.agents.write("actor.yaml", `name: changer\ntype: tool\ndescription: changes\nsteps:\n${steps}`);
    this.agents.write("action.yaml", ACTION);
    for (const call of [
      ["actor", "add", "--config", "actor.yaml"],
      ["action", "create", "--config", "action.yaml"],
      ["resource", "add", "git-checkout", "api", "--path", this.repository],
      ["resource", "add", "fs-directory", "notes", "--path", this.directory],
      ["project", "create", "shop", "--resource", "api", "--resource", "notes"],
    ])
      await this.done(...call);
    await allowCommands(this.agents);
    const { data } = await this.done("plan", "use", "change", "shop");
    const id = String(data["plan_id"]);
    await this.done("plan", "execute", id);
    return id;
  }

  /** Runs a command that must succeed. */
  async done(...args: string[]): Promise<Envelope> {
    const envelope = await this.agents.json(...args);
    if (envelope.exit_code !== 0) throw new Error(`agents ${args.join(" ")}: ${JSON.stringify(envelope.error)}`);
    return envelope;
  }

  git(...args: string[]): string {
    const env = { ...process.env, GIT_OPTIONAL_LOCKS: "0" };
    return execFileSync("git", args, {
      cwd: this.repository,
      encoding: "utf8",
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  save(name: string): void {
    execFileSync("cp", ["-a", this.agents.directory, join(this.#copies, name)]);
  }

  restore(name: string): void {
    rmSync(this.agents.directory, { recursive: true, force: true });
    execFileSync("cp", ["-a", join(this.#copies, name), this.agents.directory]);
  }

  look(): Resources {
    const head = `head ${this.git("rev-parse", "HEAD^{tree}").trim()} after ${this.git("rev-list", "--count", "HEAD").trim()} commits`;
    const index = this.git("ls-files", "--stage").trim().split("\n");
    const status = this.git("status", "--porcelain", "--untracked-files=all").trimEnd().split("\n");
    return [
      head,
      ...index.map((line) => `index ${line}`),
      ...status.map((line) => `status ${line}`),
      ...lookAt(this.repository, "", new Set([".git"])).map((line) => `api ${line}`),
      ...lookAt(this.directory, "").map((line) => `notes ${line}`),
    ];
  }

  /** Files that a landing uses on its way and must not leave behind. */
  leftovers(): string[] {
    const ours = /^\.?cleveragents-/;
    const inside = (directory: string): string[] => readdirSync(directory).filter((name) => ours.test(name));
    const locks = readdirSync(join(this.repository, ".git"), { recursive: true, encoding: "utf8" });
    return [
      ...inside(this.repository),
      ...inside(this.directory),
      ...inside(join(this.repository, ".git")),
      ...locks.filter((name) => name.endsWith(".lock")),
    ];
  }

  /** The latest journal, as it is in the database now. */
  journal(): JournalFacts | undefined {
    return this.#database((database) => latestJournal(database));
  }

  /** Turns a value in the database, which no command offers: a lease that lapsed, another run of the machine. */
  turn(statement: string, ...values: (string | number | null)[]): void {
    this.#database((database) => database.prepare(statement).run(...values));
  }

  query(statement: string): Readonly<Record<string, unknown>> {
    return this.#database((database) => database.prepare(statement).get()) ?? {};
  }

  /** Remains of commands outside the resources: references, sandboxes, temporary files, processes. */
  surroundings(): string[] {
    return [
      ...this.git("for-each-ref").trim().split("\n"),
      ...readdirSync(join(this.agents.dataDir, "sandboxes"), { recursive: true, encoding: "utf8" }).sort(),
      ...readdirSync(this.agents.dataDir).sort(),
      ...readdirSync(this.temporary).sort(),
      ...this.leftovers(),
      ...processesIn(this.agents.directory),
    ];
  }

  lapseLease(): void {
    this.turn("UPDATE leases SET expires_at = 1 WHERE expires_at > 1");
  }

  /** Looks at the journal again and again without opening the database each time. */
  watch(): Disposable & { journal: () => JournalFacts | undefined } {
    const database = new DatabaseSync(this.agents.database, { readOnly: true });
    return { journal: () => latestJournal(database), [Symbol.dispose]: () => database.close() };
  }

  #database<T>(use: (database: DatabaseSync) => T): T {
    const database = new DatabaseSync(this.agents.database, { timeout: 5_000 });
    try {
      return use(database);
    } finally {
      database.close();
    }
  }

  [Symbol.dispose](): void {
    this.agents[Symbol.dispose]();
    rmSync(this.#copies, { recursive: true, force: true });
  }
}

function latestJournal(database: DatabaseSync): JournalFacts | undefined {
  const query = "SELECT id, kind, direction, outcome, finished_at FROM journals ORDER BY sequence DESC LIMIT 1";
  return database.prepare(query).get() as JournalFacts | undefined;
}

/** Processes that work in the directory or name it. */
function processesIn(directory: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
        return `${readlinkSync(`/proc/${pid}/cwd`)} ${command}`.includes(directory) ? [`process ${command}`] : [];
      } catch {
        // Gone meanwhile, or not ours to look at.
        return [];
      }
    });
}

/** Path, permissions and content of everything below, directories included. */
function lookAt(root: string, below: string, except: ReadonlySet<string> = new Set()): string[] {
  return readdirSync(join(root, below))
    .filter((name) => !except.has(name))
    .sort()
    .flatMap((name) => {
      const path = below === "" ? name : `${below}/${name}`;
      const file = join(root, path);
      const stat = lstatSync(file);
      if (stat.isSymbolicLink()) return [`${path} -> ${readlinkSync(file)}`];
      const permissions = (stat.mode & 0o7777).toString(8);
      if (stat.isDirectory()) return [`${path}/ ${permissions}`, ...lookAt(root, path)];
      const hash = createHash("sha256").update(readFileSync(file)).digest("hex").slice(0, 16);
      return [`${path} ${permissions} ${hash}`];
    });
}

const ACTION = `name: change
description: Change a lot of files
definition_of_done: They are changed
execution_actor: local/changer
`;

/** Modified, deleted, renamed, new, other permissions, other links, a file instead of a directory and the reverse. */
const CHANGES = [
  "for n in 00 01 02 03 04 05 06 07 08 09 10 11; do echo changed >> a/$n.txt; done",
  "rm a/12.txt a/13.txt b/14.txt b/15.txt",
  "mkdir -p moved/deep; for n in 16 17 18 19 20 21; do mv b/$n.txt moved/deep/$n.txt; done",
  "mkdir -p new/deep/er; for n in 1 2 3 4 5 6 7 8; do cat a/00.txt a/0$n.txt > new/deep/er/$n.txt; done",
  "chmod +x c/24.txt c/25.txt; chmod -x tool.sh; echo changed >> run.sh",
  "ln -sfn b/22.txt link; ln -s ../a/00.txt new/link",
  "rm c/30.txt; mkdir c/30.txt; echo inside > c/30.txt/inside.txt",
  "rm -r d; echo a file now > d",
  "rm gone/only.txt; rmdir gone 2>/dev/null || true",
].join("\n");

const FILE_BYTES = 8_000;

function writeFiles(root: string): void {
  const write = (path: string, text: string, mode = 0o644): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    chmodSync(join(root, path), mode);
  };
  for (let number = 0; number < 36; number += 1) {
    const name = String(number).padStart(2, "0");
    const text = Array.from({ length: FILE_BYTES / 20 }, (_, line) => `file ${name} line ${line}`).join("\n");
    write(`${"abc"[Math.trunc(number / 14)] ?? "c"}/${name}.txt`, `${text}\n`);
  }
  for (const name of ["changed.txt", "staged.txt"]) write(`mine/${name}`, "as it was\n");
  for (const name of ["one.txt", "two.txt"]) write(`d/${name}`, `${name}\n`);
  write("gone/only.txt", "the only one\n");
  for (const name of ["tool.sh", "run.sh"]) write(name, "#!/bin/sh\necho\n", 0o755);
  if (!existsSync(join(root, "link"))) symlinkSync("a/00.txt", join(root, "link"));
}
