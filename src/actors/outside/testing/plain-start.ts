/** Starts agent programs without any confinement, in a directory of their own; for tests of what they say. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { AgentListener, AgentPermission, AgentPipes, AgentProgram, AgentSurroundings } from "../agent-port.ts";
import type { AcpActorDefinition } from "../../../domain/actor/acp-actor.ts";
import { startPipedProgram } from "../../../platform/piped-program.ts";
import { parseActor } from "../../../domain/actor/actor-parser.ts";

/** Everything that an agent told, in order. */
export class HeardNews implements AgentListener {
  readonly news: string[] = [];
  readonly permissions: AgentPermission[] = [];
  answer: "allow" | "reject" | "cancel" = "allow";

  text(text: string): void {
    this.news.push(`text ${text.slice(0, 100)}`);
  }

  thought(text: string): void {
    this.news.push(`thought ${text}`);
  }

  tool({ title, kind, status }: Parameters<AgentListener["tool"]>[0]): void {
    this.news.push(`tool ${title} (${kind}) ${status}`);
  }

  plan(items: Parameters<AgentListener["plan"]>[0]): void {
    this.news.push(`plan ${items.map(({ text, state }) => `${text}: ${state}`).join(", ")}`);
  }

  async permission(request: AgentPermission): Promise<"allow" | "reject" | "cancel"> {
    this.permissions.push(request);
    return this.answer;
  }
}

export class PlainPlace implements Disposable {
  readonly root: string;
  readonly home: string;
  readonly cwd: string;
  readonly listener = new HeardNews();
  readonly stopped = new AbortController();
  started: AgentProgram | undefined;
  /** The process that runs. */
  pipes: AgentPipes | undefined;

  constructor() {
    this.root = mkdtempSync(join(tmpdir(), "cleveragents-outside-"));
    this.home = join(this.root, "home");
    this.cwd = join(this.root, "tree");
    for (const directory of [this.home, this.cwd]) mkdirSync(directory);
  }

  surroundings(
    actor: AcpActorDefinition,
    gateway: AgentSurroundings["gateway"],
    more: Partial<AgentSurroundings> = {},
  ): AgentSurroundings {
    return {
      actor,
      gateway,
      start: async (program) => this.#start(program),
      home: this.home,
      cwd: this.cwd,
      directories: [],
      asks: false,
      toolServers: [],
      listener: this.listener,
      signal: this.stopped.signal,
      ...more,
    };
  }

  #start(program: AgentProgram): AgentPipes {
    this.started = program;
    for (const [path, text] of Object.entries(program.files)) {
      mkdirSync(dirname(join(this.home, path)), { recursive: true });
      writeFileSync(join(this.home, path), text);
    }
    const { PATH = "" } = process.env;
    const basic = { PATH, HOME: this.home, LANG: "C.UTF-8", TERM: "dumb", TMPDIR: this.root };
    this.pipes = startPipedProgram(program.command, {
      environment: { ...basic, ...program.environment },
      directory: this.cwd,
    });
    return this.pipes;
  }

  [Symbol.dispose](): void {
    this.pipes?.kill();
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

const TINY = join(import.meta.dirname, "tiny-agent.ts");
/** Speaks version 2 of the protocol. */
export const TINY_2 = join(import.meta.dirname, "tiny-agent-2.ts");

/** The tiny agent as an actor; see there for its variables. */
export function tinyActor(
  dialect: string,
  variables: Readonly<Record<string, string>> = {},
  more: Readonly<Record<string, unknown>> = {},
): AcpActorDefinition {
  const actor = parseActor({
    name: "local/tiny",
    type: "acp",
    description: "A small agent of our own",
    command: [process.execPath, TINY],
    env: {
      TINY_URL: "{gateway}",
      TINY_TOKEN: "{token}",
      TINY_MODEL: "{model}",
      TINY_DIALECT: dialect,
      ...variables,
    },
    endpoint: dialect,
    ...more,
  });
  if (actor.type !== "acp") throw new Error("not an outside agent");
  return actor;
}
