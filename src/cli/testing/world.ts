/** A user's repository with one commit, and the command line beside it. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agents } from "./agents.ts";
import { allowCommands } from "./confinement.ts";

const ACTION = `name: greet
description: Greet {who}
definition_of_done: The greeting is there
execution_actor: local/greeter
arguments:
  - { name: who, required: true }
`;

export class World implements Disposable {
  readonly agents: Agents;
  readonly repository: string;

  /** The resource that the plans work on. */
  resource: string[];
  /** Whether plans that name no profile run commands also where nothing can confine them. */
  anywhere = true;

  constructor(dataDir?: string) {
    this.agents = new Agents(dataDir);
    this.repository = join(this.agents.directory, "my repo");
    this.resource = ["git-checkout", "api", "--path", this.repository];
    mkdirSync(join(this.repository, "docs"), { recursive: true });
    writeFileSync(join(this.repository, "a.txt"), "one\ntwo\n");
    writeFileSync(join(this.repository, ".gitignore"), "*.log\n");
    this.git("init", "--quiet", "--initial-branch=main");
    this.commit("first");
  }

  /** All that is there, changed or not. */
  commit(message = "more"): void {
    this.git("add", "--all");
    const identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
    this.git(...identity, "commit", "--quiet", "--allow-empty", `--message=${message}`);
  }

  git(...args: string[]): string {
    return execFileSync("git", args, { cwd: this.repository, encoding: "utf8" });
  }

  /** Everything of the user's repository that a plan must not change. */
  state(): string {
    const refs = this.git("for-each-ref")
      .split("\n")
      .filter((line) => !line.includes("refs/cleveragents/"));
    return [
      refs.join("\n"),
      this.git("status", "--porcelain", "--ignored"),
      readFileSync(join(this.repository, ".git/config"), "utf8"),
    ].join();
  }

  /** Registers an actor of these steps and all a plan of it needs, and makes a plan. */
  async plan(steps: string, ...use: string[]): Promise<string> {
    if (this.anywhere) await allowCommands(this.agents);
    await register(this.agents, { steps, action: ACTION, resource: this.resource });
    return this.another(...use);
  }

  /** One more plan of the same action. */
  async another(...use: string[]): Promise<string> {
    const { data, error } = await this.agents.json("plan", "use", "greet", "shop", "--arg", "who=world", ...use);
    if (error !== undefined) throw new Error(`plan use: ${error.message}`);
    return String(data["plan_id"]);
  }

  [Symbol.dispose](): void {
    this.agents[Symbol.dispose]();
  }
}

/** An actor of these steps, an action for it, and the project "shop" with one resource. */
export async function register(
  agents: Agents,
  parts: { readonly steps: string; readonly action: string; readonly resource: readonly string[] },
): Promise<void> {
  agents.write("actor.yaml", `name: greeter\ntype: tool\ndescription: greets\nsteps:\n${parts.steps}`);
  agents.write("action.yaml", parts.action);
  for (const call of [
    ["actor", "add", "--config", "actor.yaml"],
    ["action", "create", "--config", "action.yaml"],
    ["resource", "add", ...parts.resource],
    ["project", "create", "shop", "--resource", "api"],
  ]) {
    const { error } = await agents.json(...call);
    if (error !== undefined) throw new Error(`${call.join(" ")}: ${error.message}`);
  }
}
