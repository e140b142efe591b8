/** A user's repository or directory that plans work on in place, through the command line. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, readlinkSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { World } from "./world.ts";

export const UNSAFE = ["--automation-profile", "full-auto"];

/** Two steps that change and make something. */
export const STEPS = `  - { id: edit, tool: edit_file, params: { path: a.txt, old: two, new: "2" } }
  - { id: make, tool: write_file, params: { path: docs/new.txt, content: "new\\n" } }
`;

export class InPlace extends World {
  readonly place: string = realpathSync(this.repository);
  // In place no command runs.
  override anywhere = false;

  constructor(type: "git-checkout" | "fs-directory" = "git-checkout") {
    super();
    this.resource = [type, "api", "--path", this.repository, "--sandbox", "none"];
  }

  /** A plan of these steps, which may work in place. */
  async unsafePlan(steps: string = STEPS): Promise<string> {
    return this.plan(steps, ...UNSAFE);
  }

  read(path: string): string {
    return readFileSync(join(this.repository, path), "utf8");
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.repository, path), text);
  }

  /** Every byte below `.git`: our own git must leave all of it alone. */
  gitBytes(): string {
    const hash = createHash("sha256");
    const files = readdirSync(join(this.repository, ".git"), { recursive: true, withFileTypes: true });
    for (const entry of files.toSorted((a, b) => (join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1))) {
      const path = join(entry.parentPath, entry.name);
      hash.update(path);
      if (entry.isFile()) hash.update(readFileSync(path));
      else if (entry.isSymbolicLink()) hash.update(readlinkSync(path));
    }
    return hash.digest("hex");
  }

  /** Lets the lease lapse at once. */
  lapse(): void {
    using database = new DatabaseSync(this.agents.database, { timeout: 5_000 });
    if (database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'leases'").get() !== undefined)
      database.exec("UPDATE leases SET expires_at = 0");
  }

  leftovers(): string[] {
    return readdirSync(this.repository).filter((name) => name.startsWith(".cleveragents-"));
  }
}
