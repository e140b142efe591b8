/** Several scripted models and one repository, through the application: each model has a provider of its own name. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunEvent } from "../../domain/run-event.ts";
import { git, makeRepository } from "../../testing/git-repository.ts";
import type { CallOptions, CleverAgents } from "../open.ts";
import { openCleverAgents } from "../open.ts";
import type { InputOf, OutputOf } from "../table/operation-table.ts";

export type CandidatesOutput = Extract<OutputOf<"run">, { outcome: "candidates" }>;

/** Answers of a model that writes one file, at a price. */
export function writer(
  path: string,
  content: string,
  more: { readonly delayMs?: number; readonly tokens?: number } = {},
): object[] {
  const usage = { input_tokens: more.tokens ?? 1_000, output_tokens: 100 };
  const delay_ms = more.delayMs ?? 0;
  const steps = [{ id: "write", description: `Write ${path}` }];
  return [
    { match: { user: "Decide" }, tool_calls: [{ tool: "record_strategy", parameters: { steps } }], usage },
    {
      match: { user: 'step "write"', tool: "write_file" },
      text: `I wrote ${path}.`,
      usage,
    },
    {
      match: { user: 'step "write"' },
      tool_calls: [{ tool: "write_file", parameters: { path, content } }],
      delay_ms,
      usage,
    },
  ];
}

/** Answers of a judge. */
export function judge(candidate: string, reasons: string): object[] {
  const usage = { input_tokens: 2_000, output_tokens: 100 };
  return [{ tool_calls: [{ tool: "recommend", parameters: { candidate, reasons } }], usage }];
}

export class CandidatesWorld implements AsyncDisposable {
  readonly directory: string = mkdtempSync(join(tmpdir(), "cleveragents-candidates-"));
  readonly repository: string = makeRepository(join(this.directory, "shop"));
  readonly events: RunEvent[] = [];
  readonly #settings: Record<string, string> = {};
  #agents: CleverAgents | undefined;

  constructor() {
    this.commit({ "a.txt": "one\ntwo\n" });
  }

  commit(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) writeFileSync(join(this.repository, path), text);
    git(this.repository, "add", "--all");
    git(this.repository, "commit", "-qm", "files");
  }

  get dataDir(): string {
    return join(this.directory, "data");
  }

  /** A provider of this name, whose only model gives these answers; its actor is `<name>/transcript`. */
  model(name: string, turns: readonly object[]): string {
    const file = join(this.directory, `${name}.yaml`);
    writeFileSync(file, JSON.stringify({ turns }));
    Object.assign(this.#settings, {
      [`provider.${name}.type`]: "scripted",
      [`provider.${name}.transcript`]: file,
      [`provider.${name}.prices`]: "*=3/15",
    });
    return `${name}/transcript`;
  }

  get settings(): Readonly<Record<string, string>> {
    return this.#settings;
  }

  set(key: string, value: string): void {
    this.#settings[key] = value;
  }

  /** A new application, as a new process would have it. */
  async agents(): Promise<CleverAgents> {
    await this.#agents?.[Symbol.asyncDispose]();
    this.#agents = await openCleverAgents({
      dataDir: this.dataDir,
      settings: this.#settings,
      environment: process.env,
    });
    return this.#agents;
  }

  /** A request that several try; a program means what it calls. */
  async compete(wish: Partial<InputOf<"run">>, options: CallOptions = {}): Promise<CandidatesOutput> {
    const agents = await this.agents();
    const input = { request: "write a note", directory: this.repository, automationProfile: "trusted", ...wish };
    const output = await agents.run("run", input, { tell: (event) => this.events.push(event), ...options });
    if (output.outcome !== "candidates") throw new Error(`there were no candidates: ${output.outcome}`);
    return output;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agents?.[Symbol.asyncDispose]();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
