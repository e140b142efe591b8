/**
 * A request in a real repository, a scripted model and the real store, from outside. The text that the model was shown
 * is read back from the record.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { RunEvent } from "../../domain/run-event.ts";
import { git, makeRepository } from "../../testing/git-repository.ts";
import type { InputOf } from "../table/operation-table.ts";
import { openCleverAgents, type CleverAgents } from "../open.ts";

export interface Shown {
  readonly system: string;
  readonly messages: readonly {
    readonly role: string;
    readonly content?: string;
    readonly output?: string;
    readonly images?: readonly object[];
  }[];
  readonly tools: readonly { readonly name: string }[];
}

export class LoopWorld implements AsyncDisposable {
  readonly directory: string = mkdtempSync(join(tmpdir(), "cleveragents-loop-"));
  readonly repository: string = makeRepository(join(this.directory, "shop"));

  constructor() {
    this.commit({ "a.txt": "one\ntwo\n" });
  }

  /** Told during the runs. */
  readonly events: RunEvent[] = [];
  /** Settings and variables of the next start. */
  settings: Readonly<Record<string, string>> = {};
  environment: Readonly<Record<string, string>> = {};

  commit(files: Readonly<Record<string, string | Uint8Array>>): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.repository, path)), { recursive: true });
      writeFileSync(join(this.repository, path), text);
    }
    git(this.repository, "add", "--all");
    git(this.repository, "commit", "-qm", "files");
  }
  #agents: CleverAgents | undefined;

  script(...turns: readonly object[]): void {
    writeFileSync(join(this.directory, "model.yaml"), JSON.stringify({ turns }));
  }

  /** A new application, as a new process would have it. */
  async restart(): Promise<CleverAgents> {
    await this.#agents?.[Symbol.asyncDispose]();
    const environment = {
      ...process.env,
      ...this.environment,
      CLEVERAGENTS_PROVIDER_SCRIPTED_TRANSCRIPT: join(this.directory, "model.yaml"),
    };
    const { settings } = this;
    this.#agents = await openCleverAgents({ dataDir: join(this.directory, "data"), environment, settings });
    return this.#agents;
  }

  async agents(): Promise<CleverAgents> {
    return this.#agents ?? this.restart();
  }

  async run(request: string, more: Partial<InputOf<"run">> = {}) {
    const agents = await this.agents();
    const wish = { request, directory: this.repository, automationProfile: "trusted", ...more };
    return agents.run("run", wish, { answers: "none", tell: (event) => this.events.push(event) });
  }

  /** The text that the model was shown when it gave the answer with this name, such as `fix.2`. */
  async shown(plan: string, name: string): Promise<Shown> {
    const agents = await this.agents();
    const { decisionIds } = await agents.run("plan.tree", { plan });
    const decision = decisionIds[name];
    if (decision === undefined) throw new Error(`there is no ${name} in ${Object.keys(decisionIds).join(", ")}`);
    const { context } = await agents.run("plan.explain", { id: decision, showContext: true });
    return JSON.parse(String(context)) as Shown;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agents?.[Symbol.asyncDispose]();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export const calls = (tool: string, parameters: object): object => ({ tool_calls: [{ tool, parameters }] });
export const strategy = (...steps: object[]): object => ({
  match: { user: "Decide" },
  ...calls("record_strategy", { steps }),
});
export const step = (id: string, more: object): object => ({
  ...more,
  match: { user: `step "${id}"`, ...(more as { match?: object }).match },
});
export const FIX = { id: "fix", description: "Fix it" };
