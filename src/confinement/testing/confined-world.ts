/**
 * A user's home, a data directory and a checkout with secrets in them, and commands that are run in a sandbox among
 * them.
 */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { OnlyBackend, type BackendName } from "./backends.ts";
import type { ProbeAnswer, ProbeRequest } from "./confined-probe.ts";
import { fill } from "../../execution/testing/trees.ts";

const PROBE = fileURLToPath(new URL("./confined-probe.ts", import.meta.url));
const ORDINARY_USER = 65_534;

/** The users as whom commands are run: the one who runs the tests; where that is root, an ordinary user too. */
export type As = "self" | "ordinary";
export const USERS: readonly As[] = process.getuid?.() === 0 ? ["self", "ordinary"] : ["self"];

const SECRET = "canary-5d1f";

type Wanted = Partial<ProbeRequest> & Pick<ProbeRequest, "commands">;

export class ConfinedWorld implements Disposable {
  readonly directory: string = mkdtempSync(join(tmpdir(), "cleveragents-confined-"));
  readonly home: string = join(this.directory, "home");
  readonly data: string = join(this.directory, "data");
  readonly checkout: string = join(this.directory, "checkout");
  readonly sandbox: string = join(this.data, "sandboxes/plan/1/api");
  readonly root: string = join(this.sandbox, "tree");
  readonly #only: OnlyBackend;
  readonly #as: As;

  private constructor(backend: BackendName, as: As) {
    this.#only = new OnlyBackend(backend);
    this.#as = as;
  }

  static async make(backend: BackendName, as: As): Promise<ConfinedWorld> {
    const world = new ConfinedWorld(backend, as);
    await fill(world.directory, {
      "home/.ssh/id_ed25519": SECRET,
      "home/.aws/credentials": SECRET,
      "home/.cargo/bin/tool": { executable: "#!/bin/sh\necho tool\n" },
      "home/.cargo/credentials.toml": SECRET,
      "home/.config/cleveragents/config.yaml": SECRET,
      "data/config.yaml": SECRET,
      "data/cleveragents.db": SECRET,
      "data/sandboxes/plan/1/api/tree/a.txt": "one\n",
      "data/sandboxes/plan/1/api/git/config": SECRET,
      "data/sandboxes/plan/1/api/target.json": SECRET,
      "data/sandboxes/plan/1/web/tree/a.txt": SECRET,
      "data/sandboxes/other/1/api/tree/a.txt": SECRET,
      "checkout/.env": SECRET,
      "checkout/.git/objects/x": "object\n",
      "checkout/.data/config.yaml": SECRET,
    });
    if (as === "ordinary")
      for (const path of [world.directory, ...world.#files()]) chownSync(path, ORDINARY_USER, ORDINARY_USER);
    mkdirSync(join(world.directory, "outside"), { mode: 0o777 });
    return world;
  }

  /** All files that hold the secret, as a command would name them. */
  secrets(): string[] {
    return this.#files()
      .filter((file) => statSync(file).isFile() && readFileSync(file, "utf8") === SECRET)
      .sort();
  }

  /** Names and bytes of everything but what commands may change. */
  fingerprint(): string[] {
    const own = [this.root, join(this.sandbox, "home")];
    return this.#files()
      .filter((file) => !own.some((directory) => `${file}/`.startsWith(`${directory}/`)))
      .map((file) => `${file} ${statSync(file).isFile() ? readFileSync(file, "utf8") : statSync(file).mode}`)
      .sort();
  }

  #files(): string[] {
    return readdirSync(this.directory, { recursive: true, encoding: "utf8" }).map((path) => join(this.directory, path));
  }

  /** Runs the commands; `through`: the program that starts the process that runs them. */
  async run(request: Wanted, through: readonly string[] = []): Promise<ProbeAnswer> {
    const [program = "", ...args] = [...through, ...this.#words(request)];
    const { stdout } = await promisify(execFile)(program, args, {
      env: this.#environment(),
      maxBuffer: 64 * 1024 * 1024,
    });
    return JSON.parse(stdout) as ProbeAnswer;
  }

  /** The process that runs them, for a test that disturbs it. */
  start(request: Wanted): ChildProcess {
    const [program = "", ...args] = this.#words(request);
    return spawn(program, args, { env: this.#environment(), stdio: "ignore" });
  }

  #words(request: Wanted): string[] {
    const wanted = {
      root: this.root,
      hidden: [this.data, join(this.checkout, ".data")],
      ...request,
    } satisfies ProbeRequest;
    const user =
      this.#as === "self" ? [] : ["setpriv", `--reuid=${ORDINARY_USER}`, `--regid=${ORDINARY_USER}`, "--clear-groups"];
    return [...user, process.execPath, PROBE, JSON.stringify(wanted)];
  }

  #environment(): NodeJS.ProcessEnv {
    return { ...process.env, PATH: this.#only.path, HOME: this.home, SECRET_TOKEN: SECRET };
  }

  [Symbol.dispose](): void {
    this.#only[Symbol.dispose]();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
