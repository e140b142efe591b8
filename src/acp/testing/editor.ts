/**
 * An editor, made of the official client of the protocol. It keeps everything it was told and asked, and answers as the
 * test says. The agent is in this process, or the program that users have.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { PassThrough, Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";
import { composeCleverAgents } from "../../app/open.ts";
import { spellNext } from "../../cli/words/spell-next.ts";
import type { LoopWorld } from "../../app/testing/loop-world.ts";
import type { ChosenOptions } from "../session-options.ts";
import { serveEditor } from "../serve.ts";

export type Permission = acp.RequestPermissionRequest;
/** The id of a way, the outcome `cancelled`, or anything else that an editor may send. */
type Answer = (asked: Permission) => unknown;

/** By the kind of the way: the first that allows, or the first that rejects. */
export const choose =
  (kind: "allow_once" | "reject_once") =>
  ({ options }: Permission): unknown => ({
    outcome: { outcome: "selected", optionId: options.find((option) => option.kind === kind)?.optionId },
  });

export class Editor {
  readonly updates: acp.SessionNotification[] = [];
  readonly permissions: Permission[] = [];
  readonly forms: acp.CreateElicitationRequest[] = [];
  /** Answers of the permissions in turn; the last one stays. */
  answers: Answer[] = [choose("allow_once")];
  onForm: (asked: acp.CreateElicitationRequest) => acp.CreateElicitationResponse = () => ({ action: "cancel" });
  readonly #connection: acp.ClientConnection;
  readonly ended: Promise<unknown>;

  constructor(stream: acp.Stream, ended: Promise<unknown>) {
    this.ended = ended;
    this.#connection = acp
      .client({ name: "test" })
      .onRequest(acp.methods.client.session.requestPermission, async ({ params }) => {
        this.permissions.push(params);
        const answer = this.answers.length > 1 ? this.answers.shift() : this.answers[0];
        return (await answer?.(params)) as acp.RequestPermissionResponse;
      })
      .onRequest(acp.methods.client.elicitation.create, ({ params }) => {
        this.forms.push(params);
        return this.onForm(params);
      })
      .onNotification(acp.methods.client.session.update, ({ params }) => void this.updates.push(params))
      .connect(stream);
  }

  get agent(): acp.ClientContext {
    return this.#connection.agent;
  }

  initialize(clientCapabilities: acp.ClientCapabilities = {}): Promise<acp.InitializeResponse> {
    return this.agent.request(acp.methods.agent.initialize, { protocolVersion: 1, clientCapabilities });
  }

  async open(cwd: string): Promise<string> {
    return (await this.agent.request(acp.methods.agent.session.new, { cwd, mcpServers: [] })).sessionId;
  }

  async prompt(sessionId: string, text: string): Promise<acp.StopReason> {
    const prompt: acp.ContentBlock[] = [{ type: "text", text }];
    return (await this.agent.request(acp.methods.agent.session.prompt, { sessionId, prompt })).stopReason;
  }

  cancel(sessionId: string): Promise<void> {
    return this.agent.notify(acp.methods.agent.session.cancel, { sessionId });
  }

  of<Kind extends acp.SessionUpdate["sessionUpdate"]>(
    kind: Kind,
  ): Extract<acp.SessionUpdate, { sessionUpdate: Kind }>[] {
    return this.updates.flatMap(({ update }) =>
      update.sessionUpdate === kind ? [update as Extract<acp.SessionUpdate, { sessionUpdate: Kind }>] : [],
    );
  }

  /** Everything that the agent said in words. */
  get said(): string {
    return this.of("agent_message_chunk")
      .map(({ content }) => (content.type === "text" ? content.text : ""))
      .join("");
  }

  async until(done: () => boolean): Promise<void> {
    for (let tries = 0; !done(); tries += 1) {
      if (tries > 1_500) throw new Error(`it did not happen; told: ${JSON.stringify(this.updates.slice(-5))}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async close(): Promise<void> {
    this.#connection.close();
    await this.ended;
  }
}

const CONFIGURED: ChosenOptions = { profile: undefined, actor: undefined, budget: undefined };

export function worldEnvironment(world: LoopWorld): Record<string, string | undefined> {
  return {
    ...process.env,
    CLEVERAGENTS_DATA_DIR: join(world.directory, "data"),
    CLEVERAGENTS_PROVIDER_SCRIPTED_TRANSCRIPT: join(world.directory, "model.yaml"),
    ...world.environment,
  };
}

/** The agent in this process. */
export async function editorOn(
  world: LoopWorld,
  options: Partial<ChosenOptions> = {},
  capabilities: acp.ClientCapabilities = {},
): Promise<Editor & AsyncDisposable> {
  const environment = worldEnvironment(world);
  const agents = composeCleverAgents({ environment, settings: world.settings, directory: world.directory });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const stop = new AbortController();
  const served = servedAndClosed(agents, {
    environment,
    input,
    output,
    log: () => undefined,
    options: { ...CONFIGURED, ...options },
    spell: spellNext,
    signal: stop.signal,
  });
  const stream = acp.ndJsonStream(
    Writable.toWeb(input) as WritableStream<Uint8Array>,
    Readable.toWeb(output) as ReadableStream<Uint8Array>,
  );
  const editor = new Editor(stream, served);
  await editor.initialize(capabilities);
  return Object.assign(editor, {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await served;
    },
  });
}

async function servedAndClosed(
  agents: ReturnType<typeof composeCleverAgents>,
  parts: Omit<Parameters<typeof serveEditor>[0], "agents">,
): Promise<void> {
  await using open = agents;
  await serveEditor({ agents: open, ...parts });
}

export interface ProgramEditor extends Editor, AsyncDisposable {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** All that the program wrote to its output and to its log. */
  readonly written: { stdout: string; stderr: string };
}

/** The program that users have. */
export async function editorWithProgram(
  world: LoopWorld,
  program: string,
  words: readonly string[] = [],
): Promise<ProgramEditor> {
  const child = spawn(process.execPath, [program, "acp", ...words], {
    cwd: world.directory,
    env: worldEnvironment(world),
    stdio: ["pipe", "pipe", "pipe"],
  });
  const written = { stdout: "", stderr: "" };
  const output = new PassThrough();
  child.stdout.on("data", (chunk: Buffer) => {
    written.stdout += chunk.toString("utf8");
    output.write(chunk);
  });
  child.stdout.on("end", () => output.end());
  child.stderr.on("data", (chunk: Buffer) => (written.stderr += chunk.toString("utf8")));
  // A program that was killed reads no more.
  child.stdin.on("error", () => undefined);
  const ended = once(child, "exit");
  const stream = acp.ndJsonStream(
    Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(output) as ReadableStream<Uint8Array>,
  );
  const editor = new Editor(stream, ended);
  await editor.initialize();
  return Object.assign(editor, {
    child,
    written,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  });
}
