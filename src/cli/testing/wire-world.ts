/** The command line in front of a model server that is as strict as the providers are, in a repository of its own. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { strictSettings, type StrictServer } from "../../actors/testing/strict-server.ts";
import type { WireAnswer, WireRequest, WireScript } from "../../actors/testing/wires/wire.ts";
import { git, makeRepository } from "../../testing/git-repository.ts";
import { Agents, type Envelope } from "./agents.ts";

const KEYS = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "VLLM_API_KEY"];

export class WireWorld extends Agents {
  readonly repository: string = makeRepository(join(this.directory, "shop"));

  async at(server: StrictServer): Promise<void> {
    for (const variable of KEYS) this.environment[variable] = "a-key-for-tests";
    for (const [key, value] of Object.entries(strictSettings(server.url))) await this.json("config", "set", key, value);
    await this.json("config", "set", "provider.vllm.prices", "*=1/2");
  }

  commit(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.repository, path)), { recursive: true });
      writeFileSync(join(this.repository, path), text);
    }
    git(this.repository, "add", "--all");
    git(this.repository, "commit", "--quiet", "--message=files");
  }

  async asked(...words: string[]): Promise<Envelope> {
    const profile = words.includes("--automation-profile") ? [] : ["--automation-profile", "trusted"];
    const { stdout } = await this.run(["run", ...words, ...profile, "--format", "json"], { cwd: this.repository });
    return JSON.parse(stdout) as Envelope;
  }
}

/** An answer, or how it follows from what the model is shown. */
export type Turn = WireAnswer | WireScript;

/**
 * A model that gives these answers in this order: a question that is asked a second time gets the answer
 * to the next one, and so shows.
 */
export class TurnList {
  readonly #turns: Turn[];

  constructor(turns: readonly Turn[]) {
    this.#turns = [...turns];
  }

  get left(): number {
    return this.#turns.length;
  }

  /** From now on these. */
  continue(turns: readonly Turn[]): void {
    this.#turns.splice(0, this.#turns.length, ...turns);
  }

  readonly script = async (request: WireRequest): Promise<WireAnswer> => {
    const turn = this.#turns.shift();
    // Not a failure that would be tried again.
    if (turn === undefined) return { status: 418, message: `There is no further turn for: ${lastWords(request)}` };
    return typeof turn === "function" ? turn(request) : turn;
  };
}

export function calls(name: string, input: Readonly<Record<string, unknown>>): WireAnswer {
  return { calls: [{ name, input: JSON.parse(JSON.stringify(input)) as never }] };
}

/** The text of the newest message, which is what the model answers. */
function lastWords({ messages }: WireRequest): string {
  return messages.at(-1)?.text ?? "";
}

/** The result of the last tool call. */
export function lastResult({ messages }: WireRequest): string {
  return messages.findLast(({ role }) => role === "tool")?.text ?? "";
}
