/** Chooses what confines commands, for a test: by a PATH on which the programs of the other backends are broken. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { findConfinement } from "../confinement.ts";

export type BackendName = "bubblewrap" | "namespaces" | "none";

const PROGRAMS = { bwrap: "bubblewrap", unshare: "namespaces", "sandbox-exec": "seatbelt" } as const;

export class OnlyBackend implements Disposable {
  /** The PATH to hand to a process that is to have no other backend. */
  readonly path: string;
  readonly #directory = mkdtempSync(join(tmpdir(), "cleveragents-programs-"));
  readonly #before = process.env["PATH"];

  constructor(wanted: BackendName) {
    chmodSync(this.#directory, 0o755);
    for (const [program, backend] of Object.entries(PROGRAMS)) {
      if (backend === wanted) continue;
      writeFileSync(join(this.#directory, program), "#!/bin/sh\nexit 1\n");
      chmodSync(join(this.#directory, program), 0o755);
    }
    this.path = `${this.#directory}${delimiter}${this.#before}`;
  }

  /** In this process too, until the end of the scope. */
  here(): this {
    process.env["PATH"] = this.path;
    return this;
  }

  [Symbol.dispose](): void {
    process.env["PATH"] = this.#before;
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** The backends that work on this machine; of the others the output of the tests says why they are left out. */
export async function workingBackends(): Promise<Exclude<BackendName, "none">[]> {
  const working: Exclude<BackendName, "none">[] = [];
  for (const name of ["bubblewrap", "namespaces"] as const) {
    using _only = new OnlyBackend(name).here();
    const found = await findConfinement();
    if (found.kind === name) working.push(name);
    else console.log(`without ${name}: ${found.kind === "none" ? found.why : found.kind}`);
  }
  return working;
}
