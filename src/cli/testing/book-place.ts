/**
 * A place in which the same command prints the same characters on every machine, so that its output can be kept as a
 * page: its own clock, ids that count up, a PATH with git and little else, no confinement, no keys, an empty home. The
 * paths have the same length everywhere, because tables are as wide as what is in them.
 */
import crypto from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { hostname } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { runCli } from "../run-cli.ts";
import { capturedIo } from "./captured-io.ts";
import { SavedDirectories } from "./saved-directories.ts";

export interface Printed {
  readonly code: number;
  readonly text: string;
}

/** Earlier than any file of a test, so that no file is ever old. */
const RIPGREP = "/opt/cleveragents/node_modules/@vscode/ripgrep-linux-x64/bin/rg";
const READABLE = "/home/ann/work/bin, /opt/cleveragents/node_modules/node/bin";
const BEGIN = Date.UTC(2026, 0, 5, 9);
const STEP = 3_600_000;
/** Not `os.tmpdir()`, whose length differs between machines; as long as HOME below. */
const ROOT_TEMPLATE = "/tmp/bk-";
const ROOT_SHOWN = "/home/ann/work";
/** Programs that are not there: what they could do differs between machines. */
const BROKEN = ["bwrap", "unshare", "sandbox-exec"];
const REAL = ["git", "sh"];

export class BookPlace implements Disposable {
  readonly root: string = mkdtempSync(ROOT_TEMPLATE);
  /** The repository in which the user types. */
  readonly repository: string = join(this.root, "shop");
  readonly #data: string = join(this.root, "data");
  readonly #saved = new SavedDirectories(this.root, ["data", "shop"]);
  readonly #environment: Readonly<Record<string, string>>;
  readonly #restore: () => void;
  #commands = 0;
  #ids = 0;
  #now = BEGIN;

  constructor() {
    const bin = join(this.root, "bin");
    for (const directory of [bin, join(this.root, "home")]) mkdirSync(directory);
    for (const name of REAL) symlinkSync(programOf(name), join(bin, name));
    for (const name of BROKEN) {
      writeFileSync(join(bin, name), "#!/bin/sh\nexit 1\n");
      chmodSync(join(bin, name), 0o755);
    }
    this.#environment = {
      PATH: bin,
      HOME: join(this.root, "home"),
      USER: "ann",
      LANG: "C.UTF-8",
      TERM: "xterm-256color",
      PAGER: "cat",
      CLEVERAGENTS_DATA_DIR: this.#data,
      CLEVERAGENTS_USER: "ann",
      CLEVERAGENTS_PROGRESS: "plain",
      // Closed doors: a command that asks the network says so, and no test asks it.
      CLEVERAGENTS_LOGIN_GITHUB_URL: "http://127.0.0.1:9",
      CLEVERAGENTS_MODELS_SOURCE: "http://127.0.0.1:9/models.json",
    };
    this.#restore = stoppedWorld(this.#environment, { now: () => this.#now, count: () => (this.#ids += 1) });
  }

  write(path: string, text: string): void {
    const file = join(this.repository, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  /** Keeps data and repository as they are now, under a name. */
  save(name: string): void {
    this.#saved.save(name);
  }

  /** Puts back what was kept; the clock and the ids, too, so that every command starts from the same moment. */
  load(name: string): void {
    this.#saved.load(name);
    this.#commands = 2_000;
    this.#ids = 0;
    this.#now = BEGIN + this.#commands * STEP;
  }

  /** Lets time pass, so that the ids of what is made next differ in their first characters. */
  pass(): void {
    this.#commands += 1;
    this.#now = BEGIN + this.#commands * STEP;
  }

  get now(): number {
    return this.#now;
  }

  get database(): string {
    return join(this.#data, "cleveragents.db");
  }

  /** Everything that the user sees; on a terminal as wide as `columns`, otherwise in a pipe. */
  async run(words: readonly string[], columns?: number): Promise<Printed> {
    this.pass();
    let text = "";
    const terminal = {
      write: (piece: string) => (text += piece),
      ...(columns === undefined ? {} : { isTTY: true, columns }),
    };
    const io = capturedIo({ env: this.#environment, cwd: this.repository });
    const code = await runCli(words, { ...io, stdout: terminal, stderr: terminal });
    return { code, text: this.#shown(stripVTControlCharacters(text)) };
  }

  /** Without what differs from machine to machine and from day to day; each stand-in is as long as it was. */
  #shown(text: string): string {
    return (
      text
        .replaceAll(this.root, ROOT_SHOWN)
        // A narrow table cuts the path.
        .replaceAll(new RegExp(`${ROOT_TEMPLATE}\\w*…`, "g"), (cut) => `${ROOT_SHOWN.slice(0, cut.length - 1)}…`)
        .replaceAll(/\bca_[0-9a-f]{12}_[\w-]{43}/g, `ca_0123456789ab_${"secret-".repeat(7).slice(0, 43)}`)
        .replaceAll(/"last_four": "[\w-]{4}"/g, '"last_four": "cret"')
        // Where the program is installed.
        .replaceAll(/(?<=ripgrep \()[^\s│]*/g, (path) =>
          path.endsWith("…") ? `${RIPGREP.slice(0, path.length - 1)}…` : `${RIPGREP})`,
        )
        .replaceAll(/(?<=commands of plans can read: )[^│\n]*/g, readable)
        .replaceAll(/\bgit \d+\.\d+\.\d+\b/g, "git 2.39.5")
        .replaceAll(`"host": "${hostname()}"`, '"host": "workshop"')
        .replaceAll(/\b\d+ MiB free/g, "54321 MiB free")
        .replaceAll(/\b[0-9a-f]{12,64}\b/g, (hash) => "0123456789abcdef".repeat(4).slice(0, hash.length))
        .replaceAll(new RegExp(`(?<![\\d.])${process.versions.node.replaceAll(".", String.raw`\.`)}`, "g"), "24.0.0")
        .replaceAll(/(?<=\bcommit )[0-9a-f]{7,11}\b/g, (hash) => "0123456789abcdef".slice(0, hash.length))
        .replaceAll(/"duration_ms": \d+/g, '"duration_ms": 0')
        .replaceAll(/\bpid \d+( [0-9a-f]{8})?/g, "pid 4711")
    );
  }

  [Symbol.dispose](): void {
    this.#restore();
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** In a frame the list is cut, and in the order of its names. */
function readable(found: string): string {
  const cut = found.indexOf("…");
  return cut === -1 ? READABLE : `${READABLE.slice(0, cut)}${found.slice(cut)}`;
}

/** Stops the clock of this process and makes its ids countable, until the returned function is called. */
function stoppedWorld(
  environment: Readonly<Record<string, string>>,
  { now, count }: { readonly now: () => number; readonly count: () => number },
): () => void {
  const [realNow, realFill, realEnvironment] = [Date.now, crypto.randomFillSync, { ...process.env }];
  const realElapsed = performance.now.bind(performance);
  const counted = (target: Uint8Array): Uint8Array => {
    target.fill(0);
    new DataView(target.buffer, target.byteOffset, target.byteLength).setUint16(1, count());
    return target;
  };
  Date.now = now;
  // Everything takes no time at all.
  performance.now = () => 0;
  Object.assign(crypto, { randomFillSync: counted });
  syncBuiltinESMExports();
  const kept = ["NODE_V8_COVERAGE", "NODE_COMPILE_CACHE", "NODE_OPTIONS", "VITEST", "TMPDIR"];
  for (const name of Object.keys(process.env)) {
    if (!kept.includes(name) && !name.startsWith("VITEST")) delete process.env[name];
  }
  const instant = new Date(BEGIN).toISOString();
  const identity = { GIT_AUTHOR_DATE: instant, GIT_COMMITTER_DATE: instant };
  Object.assign(process.env, environment, identity);
  return () => {
    Date.now = realNow;
    performance.now = realElapsed;
    Object.assign(crypto, { randomFillSync: realFill });
    syncBuiltinESMExports();
    for (const name of [...Object.keys(environment), ...Object.keys(identity)]) delete process.env[name];
    Object.assign(process.env, realEnvironment);
  };
}

function programOf(name: string): string {
  const found = (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((directory) => join(directory, name))
    .find((file) => existsSync(file));
  if (found === undefined) throw new Error(`${name} is not on the PATH`);
  return found;
}
