import { After, setDefaultTimeout, setWorldConstructor, World } from "@cucumber/cucumber";
import { Agents, type Envelope, type Finished } from "../../src/cli/testing/agents.ts";

// A step starts whole processes, and the machine may be busy with other things.
setDefaultTimeout(180_000);

/** A user at the command line: words in angle brackets stand for what earlier steps found out. */
export class CommandWorld extends World {
  readonly agents: Agents = new Agents();
  /** Words in angle brackets that steps filled in: plan, head. */
  readonly words = new Map<string, string>();
  last: Finished = { code: null, stdout: "", stderr: "" };
  all: readonly Finished[] = [];

  async run(line: string): Promise<Finished> {
    const [agents, ...args] = this.#split(line);
    if (agents !== "agents") throw new Error(`only agents can be run: ${line}`);
    return this.agents.run(args);
  }

  envelope(): Envelope {
    return JSON.parse(this.last.stdout) as Envelope;
  }

  #split(line: string): string[] {
    const filled = line.replaceAll(/<(\w+)(?::(\d+))?>/g, (whole, word: string, length: string | undefined) => {
      const value = this.words.get(word);
      return value === undefined ? whole : value.slice(0, length === undefined ? undefined : Number(length));
    });
    return (filled.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ""));
  }
}

setWorldConstructor(CommandWorld);
// A step is a whole process, on a machine that may have other things to do.
setDefaultTimeout(60_000);

After(function (this: CommandWorld) {
  this.agents[Symbol.dispose]();
});
