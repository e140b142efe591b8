/** A small repository of real code with answers that are known, and a project of it. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { git, makeRepository } from "../../testing/git-repository.ts";
import { Agents } from "./agents.ts";

const FILES: Readonly<Record<string, string>> = {
  "src/session.ts": `import { decodeToken } from "./token.ts";

/** Whether the session may begin. */
export function validateSession(token: string): boolean {
  const decoded = decodeToken(token);
  return decoded.expires > 0;
}
`,
  "src/token.ts": `export interface Token {
  readonly user: string;
  readonly expires: number;
}

export function decodeToken(text: string): Token {
  const [user = "", expires = "0"] = text.split(":");
  return { user, expires: Number(expires) };
}
`,
  "src/server.ts": `import { validateSession } from "./session.ts";

export function handle(request: { readonly token: string }): number {
  return validateSession(request.token) ? 200 : 401;
}
`,
  "src/session.test.ts": `import { validateSession } from "./session.ts";

if (!validateSession("ann:1")) throw new Error("refused");
`,
  "docs/sessions.md": "# Sessions\n\nA session is valid until its token expires.\n",
  "vendor/blob.min.js": `var validateSession=${"0+".repeat(400)}0;\n`,
};

/** The answer that a step of the only plan got. */
export function outputOf<T>(agents: Agents, step: string): T {
  using database = new DatabaseSync(agents.database, { readOnly: true });
  const row = database.prepare("SELECT result FROM steps WHERE key = ?").get(`tool-step:${step}`);
  return (JSON.parse(String(row?.["result"])) as { output: T }).output;
}

export class CodeWorld implements Disposable {
  readonly agents: Agents = new Agents();
  readonly repository: string;

  constructor() {
    this.repository = join(this.agents.directory, "code");
    makeRepository(this.repository);
    for (const [path, text] of Object.entries(FILES)) this.write(path, text);
    git(this.repository, "add", "--all");
    git(this.repository, "commit", "--quiet", "--message=code");
  }

  write(path: string, text: string | Uint8Array): void {
    const file = join(this.repository, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  remove(path: string): void {
    rmSync(join(this.repository, path), { recursive: true });
  }

  /** The project "shop" with the repository as "api". */
  async project(): Promise<void> {
    for (const call of [
      ["resource", "add", "git-checkout", "api", "--path", this.repository],
      ["project", "create", "shop", "--resource", "api"],
    ]) {
      const { error } = await this.agents.json(...call);
      if (error !== undefined) throw new Error(`${call.join(" ")}: ${error.message}`);
    }
  }

  [Symbol.dispose](): void {
    this.agents[Symbol.dispose]();
  }
}
