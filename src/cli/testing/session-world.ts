/** A repository in which a user talks to a scripted model, over several plans. */
import { join } from "node:path";
import { git, makeRepository } from "../../testing/git-repository.ts";
import { Agents, type Envelope } from "./agents.ts";
import { stepTurn, strategyTurn } from "./thinking-world.ts";

export class SessionWorld extends Agents {
  readonly repository: string = makeRepository(join(this.directory, "shop"));

  async answering(...turns: string[]): Promise<void> {
    const file = this.write("model.yaml", `turns:\n${turns.join("")}`);
    await this.json("config", "set", "provider.scripted.transcript", file);
    await this.json("config", "set", "provider.scripted.prices", "*=3/15");
  }

  /** In the repository. */
  async said(...words: string[]): Promise<Envelope> {
    const { stdout } = await this.run([...words, "--format", "json"], { cwd: this.repository });
    return JSON.parse(stdout) as Envelope;
  }

  /** A request under a profile that goes on by itself. */
  asked(...words: string[]): Promise<Envelope> {
    return this.said("run", ...words, "--automation-profile", "trusted");
  }

  head(): string {
    return git(this.repository, "rev-parse", "HEAD").trim();
  }
}

/** The turns of a model that writes one file for a request of these words. */
export function writing(request: string, path: string, content = `${path}\n`): string[] {
  const step = { id: `write-${path.replaceAll(".", "-")}`, description: `Write ${path}`, risk: 0.1, confidence: 0.9 };
  const write = { tool: "write_file", parameters: { path, content } };
  return [
    strategyTurn([step], { match: { user: `Decide how this is done: ${request}` } }),
    stepTurn(step.id, { tool_calls: [write] }),
    stepTurn(step.id, { match: { tool: "write_file" }, text: `${path} is written.` }),
  ];
}
