/**
 * The seam of outside agents: agent programs of other makers that carry out a step of a plan. One side talks to the
 * program, by the Agent Client Protocol or as a command that runs once for each prompt; the other side confines it,
 * records its work and pays for its questions. The record is made at the gateway, never from what the program reports.
 */
import type { Readable, Writable } from "node:stream";
import type { AcpActorDefinition } from "../../domain/actor/acp-actor.ts";

/** A program as it is to be started; it sees its home, the sandbox, and the gateway, and nothing else of the user's. */
export interface AgentProgram {
  /** The program by its absolute path, then its words. */
  readonly command: readonly string[];
  /** All variables beside PATH, HOME, LANG, TERM and TMPDIR. */
  readonly environment: Readonly<Record<string, string>>;
  /** Written into its private home before it starts, by the path there. */
  readonly files: Readonly<Record<string, string>>;
  /** Directories of its installation, which it must be able to read although they lie in the user's home. */
  readonly readable: readonly string[];
}

/** A program that runs, confined, in a process namespace of its own. */
export interface AgentPipes {
  readonly input: Writable;
  readonly output: Readable;
  readonly errors: Readable;
  /** Resolves when nothing of it is left. */
  readonly ended: Promise<{ readonly code: number }>;
  kill(): void;
}

/** Where the program finds its model. Inside its confinement nothing else can be reached. */
export interface AgentGateway {
  /** `http://127.0.0.1:<port>`, without a path. */
  readonly url: string;
  /** Worth nothing elsewhere. */
  readonly token: string;
  /** The name under which it asks for its model. */
  readonly model: string;
}

/** A tool server of ours that the program may use, by MCP over HTTP. */
export interface OfferedToolServer {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface AgentPermission {
  /** Of the call, as the agent counts them; often the model's own. */
  readonly id: string;
  /** The tool as our guards know it: write_file, shell_execute, web_fetch, read_file, or the agent's own name. */
  readonly tool: string;
  readonly title: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** News for a person who watches, and questions of permission; nothing here is a record. */
export interface AgentListener {
  text(text: string): void;
  thought(text: string): void;
  tool(news: {
    readonly id: string;
    readonly title: string;
    readonly kind: string;
    readonly status: "pending" | "in_progress" | "completed" | "failed";
  }): void;
  plan(items: readonly { readonly text: string; readonly state: "open" | "doing" | "done" }[]): void;
  permission(request: AgentPermission): Promise<"allow" | "reject" | "cancel">;
}

/** How the program says that its turn ended; the gateway may know better. */
export type TurnEnd =
  | { readonly reason: "done" | "limit" | "refused" | "cancelled"; readonly text: string }
  | { readonly reason: "failed"; readonly text: string; readonly error: string };

export interface OutsideAgent extends AsyncDisposable {
  /** As far as the program tells; kept with the step. */
  readonly facts: { readonly name: string; readonly version: string | undefined; readonly protocol: string };
  /** It asks for permission before each call that changes something; else guards act before it sees an answer. */
  readonly asks: boolean;
  /** One prompt, until the program ends its turn or dies, or the signal aborts. */
  turn(prompt: string, signal: AbortSignal): Promise<TurnEnd>;
}

export interface AgentSurroundings {
  readonly actor: AcpActorDefinition;
  readonly gateway: AgentGateway;
  readonly start: (program: AgentProgram) => Promise<AgentPipes>;
  /** The absolute path of its home, as the program sees it. */
  readonly home: string;
  /** The root of the sandbox, as the program sees it, and of further ones. */
  readonly cwd: string;
  readonly directories: readonly string[];
  /** The profile wants to be asked for permission; otherwise the program is told to trust itself. */
  readonly asks: boolean;
  readonly toolServers: readonly OfferedToolServer[];
  readonly listener: AgentListener;
  readonly signal: AbortSignal;
}

export type OpenAgent = (surroundings: AgentSurroundings) => Promise<OutsideAgent>;
