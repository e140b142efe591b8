/** Servers of protocols are surfaces of their own, handed to the command line, which starts them. */
import type { Readable, Writable } from "node:stream";
import type { CleverAgents } from "../../app/open.ts";
import type { NextStep } from "../../domain/errors/next-step.ts";
import type { Environment } from "../../domain/values/environment.ts";
import type { ServeHttp } from "./server-door.ts";
import type { WorkOnPlans } from "./worker-door.ts";

interface ServedParts {
  readonly agents: CleverAgents;
  readonly environment: Environment;
  readonly input: Readable;
  readonly output: Writable;
  readonly log: (text: string) => void;
  readonly spell: (step: NextStep) => string;
  readonly signal: AbortSignal;
}

interface EditorParts extends ServedParts {
  readonly options: Readonly<Record<"profile" | "actor" | "budget", string | undefined>>;
}

interface PlansParts extends ServedParts {
  readonly options: Readonly<Record<"automationProfile" | "actor" | "budget", string | undefined>>;
  readonly readOnly: boolean;
  readonly directory: string;
}

/** The doors of the other surfaces, as far as the command line knows them. */
export interface ProtocolDoors {
  /** `agents acp`: an agent for editors. */
  readonly editor: (parts: EditorParts) => Promise<void>;
  /** `agents mcp serve`: plans for other agents. */
  readonly plans: (parts: PlansParts) => Promise<void>;
  /** `agents server start`: the operations over HTTP. */
  readonly http: ServeHttp;
  /** `agents jobs work`, and beside the server: the loop of plan workers. */
  readonly work: WorkOnPlans;
}
