/** The server over HTTP is a surface of its own, handed to the command line, which starts it. */
import type { CleverAgents } from "../../app/open.ts";
import type { Environment } from "../../domain/values/environment.ts";

/** The door of the other surface, as far as the command line knows it. */
export type ServeHttp = (parts: {
  readonly agents: CleverAgents;
  readonly environment: Environment;
  readonly place:
    | { readonly kind: "port"; readonly host: string; readonly port: number }
    | { readonly kind: "socket"; readonly path: string };
  readonly allowedHosts: readonly string[];
  readonly logFormat: "plain" | "json";
  readonly logLevel: "debug" | "info" | "warning" | "error";
  readonly log: (line: string) => void;
  readonly ready: (url: string) => void;
  /** Runs in the same process from then on, until the signal, and says things in the server's log. */
  readonly beside: (say: (level: "info" | "warning", text: string) => void) => Promise<void>;
  readonly signal: AbortSignal;
  readonly patienceMs: number;
}) => Promise<void>;
