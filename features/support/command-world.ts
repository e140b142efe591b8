import { After, setDefaultTimeout, setWorldConstructor, World } from "@cucumber/cucumber";
import { Agents, type Envelope, type Finished } from "../../src/cli/testing/agents.ts";

// A step may start whole processes, on a machine that may have other things to do.
setDefaultTimeout(60_000);

/** A user at the command line: words in angle brackets stand for what earlier steps found out. */
export class CommandWorld extends World {
  readonly agents: Agents = new Agents();
  /** Words in angle brackets that steps filled in: plan, head. */
  readonly words = new Map<string, string>();
  last: Finished = { code: null, stdout: "", stderr: "" };
  all: readonly Finished[] = [];

  async run(line: string): Promise<Finished> {
    return this.agents.run(this.#arguments(line));
  }

  /** As a process of its own, beside others. */
  async process(line: string): Promise<Finished> {
    return this.agents.process(this.#arguments(line));
  }

  envelope(): Envelope {
    return JSON.parse(this.last.stdout) as Envelope;
  }

  #arguments(line: string): string[] {
    const filled = line.replaceAll(/<(\w+)(?::(\d+))?>/g, (whole, word: string, length: string | undefined) => {
      const value = this.words.get(word);
      return value === undefined ? whole : value.slice(0, length === undefined ? undefined : Number(length));
    });
    const [agents, ...args] = (filled.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ""));
    if (agents !== "agents") throw new Error(`only agents can be run: ${line}`);
    return args;
  }
}

setWorldConstructor(CommandWorld);

After(function (this: CommandWorld) {
  this.agents[Symbol.dispose]();
});
