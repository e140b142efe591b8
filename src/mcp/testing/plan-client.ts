/**
 * Another agent, made of the official client of the protocol, with our server in this process or as the program that
 * users have. It answers forms as the test says.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { PassThrough, type Readable, type Writable } from "node:stream";
import {
  Client,
  type ClientCapabilities,
  type ElicitResult,
  type Progress,
  type Transport,
} from "@modelcontextprotocol/client";
import { composeCleverAgents } from "../../app/open.ts";
import type { LoopWorld } from "../../app/testing/loop-world.ts";
import { spellNext } from "../../cli/words/spell-next.ts";
import type { ServedPlansParts } from "../served-plans.ts";
import { servePlans } from "../serve-stdio.ts";

/** By the version of the protocol: 2025-11-25, or what both sides can. */
export const ERAS = ["legacy", "auto"] as const;
export type Era = (typeof ERAS)[number];

export interface Answer {
  readonly data: Record<string, unknown>;
  readonly text: string;
  readonly isError: boolean;
  /** The facts of an error. */
  readonly error: Record<string, unknown>;
}

export interface ClientOptions {
  readonly era?: Era;
  /** Undefined for a client without forms; called for each form. */
  readonly onForm?: (message: string) => ElicitResult;
  readonly roots?: readonly string[];
}

export class PlanClient implements AsyncDisposable {
  readonly client: Client;
  readonly #end: () => Promise<unknown>;

  constructor(client: Client, end: () => Promise<unknown>) {
    this.client = client;
    this.#end = end;
  }

  async call(
    name: string,
    args: Record<string, unknown> = {},
    onProgress?: (message: string | undefined) => void,
  ): Promise<Answer> {
    const onprogress = ({ message }: Progress): void => onProgress?.(message);
    const { content, structuredContent, isError, _meta } = await this.client.callTool(
      { name, arguments: args },
      { onprogress },
    );
    return {
      data: (structuredContent ?? {}) as Record<string, unknown>,
      text: content.map((one) => (one.type === "text" ? one.text : "")).join("\n"),
      isError: isError === true,
      error: (_meta?.["cleveragents/error"] ?? {}) as Record<string, unknown>,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
    await this.#end();
  }
}

export async function connected(transport: Transport, options: ClientOptions): Promise<Client> {
  const { era = "auto", onForm, roots } = options;
  const capabilities: ClientCapabilities = {
    ...(onForm === undefined ? {} : { elicitation: { form: {} } }),
    ...(roots === undefined ? {} : { roots: { listChanged: true } }),
  };
  const client = new Client({ name: "test", version: "1" }, { capabilities, versionNegotiation: { mode: era } });
  if (onForm !== undefined) client.setRequestHandler("elicitation/create", ({ params }) => onForm(params.message));
  if (roots !== undefined) client.setRequestHandler("roots/list", () => ({ roots: roots.map((uri) => ({ uri })) }));
  await client.connect(transport);
  return client;
}

/** Lines of JSON on two streams. */
export class StreamTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  readonly #toServer: Writable;
  readonly #fromServer: Readable;
  #rest = "";

  constructor(toServer: Writable, fromServer: Readable) {
    this.#toServer = toServer;
    this.#fromServer = fromServer;
  }

  start(): Promise<void> {
    this.#fromServer.on("data", (chunk: Buffer) => {
      const lines = (this.#rest + chunk.toString("utf8")).split("\n");
      this.#rest = lines.pop() ?? "";
      for (const line of lines) this.onmessage?.(JSON.parse(line));
    });
    this.#fromServer.on("end", () => this.onclose?.());
    return Promise.resolve();
  }

  send(message: object): Promise<void> {
    this.#toServer.write(`${JSON.stringify(message)}\n`);
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#toServer.end();
    return Promise.resolve();
  }
}

export function worldEnvironment(world: LoopWorld): Record<string, string | undefined> {
  return {
    ...process.env,
    CLEVERAGENTS_DATA_DIR: join(world.directory, "data"),
    CLEVERAGENTS_PROVIDER_SCRIPTED_TRANSCRIPT: join(world.directory, "model.yaml"),
    ...world.environment,
  };
}

export interface ServedWorld extends AsyncDisposable {
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly log: string[];
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** The parts of a server, without its application. */
export function serverParts(world: LoopWorld, more: Partial<ServedPlansParts> = {}): Omit<ServedPlansParts, "agents"> {
  return {
    environment: worldEnvironment(world),
    spell: spellNext,
    log: () => undefined,
    readOnly: false,
    options: { automationProfile: undefined, actor: undefined, budget: undefined },
    directory: world.repository,
    ...more,
  };
}

/** The server in this process, on its own application as another process would have it. */
export function servedOn(world: LoopWorld, more: Partial<ServedPlansParts> = {}): ServedWorld {
  const [input, output, log, stop] = [new PassThrough(), new PassThrough(), new Array<string>(), new AbortController()];
  const parts = serverParts(world, { log: (text) => void log.push(text), ...more });
  const { environment } = parts;
  const serve = async (): Promise<void> => {
    const { settings, directory } = world;
    await using agents = composeCleverAgents({ environment, settings, directory });
    await servePlans({ ...parts, agents, input, output, signal: stop.signal });
    output.end();
  };
  const ended = serve();
  return {
    input,
    output,
    log,
    stop,
    ended,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await ended;
    },
  };
}

export async function clientOn(
  world: LoopWorld,
  options: ClientOptions = {},
  more: Partial<ServedPlansParts> = {},
): Promise<PlanClient> {
  const served = servedOn(world, more);
  const client = await connected(new StreamTransport(served.input, served.output), options);
  return new PlanClient(client, () => served.ended);
}

export interface ProgramClient extends PlanClient {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** All that the program wrote to its output and to its log. */
  readonly written: { stdout: string; stderr: string };
  readonly ended: Promise<unknown>;
}

/** The program that users have. */
export async function clientWithProgram(
  world: LoopWorld,
  program: string,
  words: readonly string[],
  options: ClientOptions = {},
): Promise<ProgramClient> {
  const child = spawn(process.execPath, [program, ...words], {
    cwd: world.repository,
    env: worldEnvironment(world),
    stdio: ["pipe", "pipe", "pipe"],
  });
  const written = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => (written.stdout += chunk.toString("utf8")));
  child.stderr.on("data", (chunk: Buffer) => (written.stderr += chunk.toString("utf8")));
  // A program that was killed reads no more.
  child.stdin.on("error", () => undefined);
  const ended = once(child, "exit");
  const client = await connected(new StreamTransport(child.stdin, child.stdout), options);
  return Object.assign(new PlanClient(client, () => ended), { child, written, ended });
}
