/** Plans of tool actors and scripted models in several projects, and workers for them in this process. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { runCli } from "../../cli/run-cli.ts";
import { Agents, type Envelope } from "../../cli/testing/agents.ts";
import { capturedIo } from "../../cli/testing/captured-io.ts";
import { allowCommands, profileFor } from "../../cli/testing/confinement.ts";
import { makeRepository } from "../../testing/git-repository.ts";
import { PROGRAM_DOORS } from "../../program-doors.ts";
import { workOnPlans, type WorkerOptions } from "../worker-loop.ts";

export class QueueWorld implements Disposable {
  readonly agents = new Agents();
  readonly repository = join(this.agents.directory, "repository");

  get environment(): NodeJS.ProcessEnv {
    const { PATH, HOME, TMPDIR } = process.env;
    return { PATH, HOME, TMPDIR, PAGER: "cat", CLEVERAGENTS_DATA_DIR: this.agents.dataDir, ...this.agents.environment };
  }

  /** An action of a tool actor with these steps, and the project `shop`. */
  async tool(steps: string, action = "work"): Promise<void> {
    makeRepository(this.repository);
    this.agents.write(`${action}.yaml`, `name: ${action}er\ntype: tool\ndescription: works\nsteps:\n${steps}`);
    this.agents.write(
      "action.yaml",
      `name: ${action}\ndescription: Do the ${action}\ndefinition_of_done: It is done\nexecution_actor: local/${action}er\n`,
    );
    await this.do("actor", "add", "--config", `${action}.yaml`);
    await this.do("action", "create", "--config", "action.yaml");
    await this.do("resource", "add", "git-checkout", "api", "--path", this.repository);
    await this.do("project", "create", "shop", "--resource", "api");
    await allowCommands(this.agents);
  }

  /** The project `shop`, and a scripted model with these turns. */
  async model(...turns: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
    makeRepository(this.repository);
    this.agents.write("model.yaml", JSON.stringify({ turns }));
    await this.do("resource", "add", "git-checkout", "api", "--path", this.repository);
    await this.do("project", "create", "shop", "--resource", "api");
    await allowCommands(this.agents);
  }

  /** A request to the scripted model that is left to workers. */
  async asked(...words: string[]): Promise<string> {
    const run = ["run", "--project", "shop", "--actor", "scripted/model.yaml", "--background"];
    return String((await this.do(...run, ...words, "write", "the", "note"))["plan_id"]);
  }

  /** A statement on the store itself, for what no command does. */
  sql(statement: string): void {
    const database = new DatabaseSync(this.agents.database, { timeout: 2_000 });
    database.exec(statement);
    database.close();
  }

  /** Rows of the store itself. */
  rows<Row>(query: string): Row[] {
    const database = new DatabaseSync(this.agents.database, { readOnly: true, timeout: 5_000 });
    const rows = database
      .prepare(query)
      .all()
      .map((row) => ({ ...row }));
    database.close();
    return rows as Row[];
  }

  /** The profile that goes on by itself, also where nothing can be confined. */
  ci(): Promise<string> {
    return profileFor(this.agents, "ci");
  }

  /** A command that must succeed; its data. */
  async do(...words: string[]): Promise<Envelope["data"]> {
    const { data, error } = await this.agents.json(...words);
    if (error !== undefined) throw new Error(`${words.join(" ")}: ${error.message}`);
    return data;
  }

  /** A plan that is queued. */
  async queued(...words: string[]): Promise<string> {
    return String((await this.do("plan", "use", "work", "shop", "--background", ...words))["plan_id"]);
  }

  /** Works on the queue in this process until it is empty; what it said. */
  async work(options: Partial<WorkerOptions> = {}): Promise<string[]> {
    const said: string[] = [];
    await workOnPlans({
      open: { dataDir: this.agents.dataDir, directory: this.agents.directory, environment: this.environment },
      workers: 2,
      signal: new AbortController().signal,
      untilEmpty: true,
      tell: (event) => {
        if (event.type === "notice") said.push(event.text);
      },
      ...options,
    });
    return said;
  }

  /** The command `agents jobs work`, in this process. */
  async workCommand(words: readonly string[], signal?: AbortSignal): Promise<{ code: number; stderr: string }> {
    const io = capturedIo({
      env: this.environment,
      cwd: this.agents.directory,
      ...(signal === undefined ? {} : { signal }),
    });
    const code = await runCli(["jobs", "work", ...words], { ...io, doors: PROGRAM_DOORS });
    return { code, stderr: io.written.stderr + io.written.stdout };
  }

  async stateOf(plan: string): Promise<string> {
    const { phase, state } = await this.do("plan", "status", plan);
    return `${String(phase)}/${String(state)}`;
  }

  /** The plan's job: its state, and how often it was begun. */
  async jobOf(plan: string): Promise<Record<string, unknown> | undefined> {
    const { jobs } = await this.do("jobs", "list", "--all");
    return (jobs as Record<string, unknown>[]).find((job) => job["plan_id"] === plan);
  }

  [Symbol.dispose](): void {
    this.agents[Symbol.dispose]();
  }
}
