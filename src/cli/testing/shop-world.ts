/** A user with a git repository, linked to the project "shop" as "api", and a tool actor that works on it. */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Agents, ROOT } from "./agents.ts";
import { allowCommands } from "./confinement.ts";
import { register } from "./world.ts";

const ACTION = `name: greet
description: Greet everybody in the shop
definition_of_done: The greeting is there
execution_actor: local/greeter
`;

export class ShopWorld implements Disposable {
  readonly agents: Agents = new Agents();
  readonly repository: string = join(this.agents.directory, "my repo");

  constructor() {
    mkdirSync(this.repository);
    this.git("init", "--quiet", "--initial-branch=main");
    this.git("config", "user.name", "Ann");
    this.git("config", "user.email", "ann@example.org");
    this.commit({ "a.txt": "one\ntwo\n", ".gitignore": "*.log\n" });
  }

  commit(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) writeFileSync(join(this.repository, path), text);
    this.git("add", "--all");
    this.git("commit", "--quiet", "--message=work");
  }

  git(...args: string[]): string {
    return execFileSync("git", args, { cwd: this.repository, encoding: "utf8" });
  }

  /** A plan of these steps, in YAML, for the project. */
  async plan(steps: string): Promise<string> {
    const resource = ["git-checkout", "api", "--path", this.repository];
    await register(this.agents, { steps, action: ACTION, resource });
    await allowCommands(this.agents);
    const { data } = await this.agents.json("plan", "use", "greet", "shop");
    return String(data["plan_id"]);
  }

  /** Executes the plan and presses Ctrl-C once `ready`. */
  async interrupted(id: string, ready: () => boolean): Promise<{ code: unknown; stderr: string }> {
    const program = process.env["NODE_V8_COVERAGE"] === undefined ? "bin/agents" : "src/agents-program.ts";
    const words = ["--data-dir", this.agents.dataDir, "plan", "execute", id];
    const child = spawn(process.execPath, [join(ROOT, program), ...words], { stdio: ["ignore", "ignore", "pipe"] });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    while (!ready()) await sleep(20);
    child.kill("SIGINT");
    const code = await new Promise((resolve) => child.on("close", resolve));
    return { code, stderr };
  }

  [Symbol.dispose](): void {
    this.agents[Symbol.dispose]();
  }
}
