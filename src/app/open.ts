/**
 * The door. `openCleverAgents` opens the application on a data directory and recovers what a crash left there; `run`
 * carries out one operation of the table. Command line, servers and programs all come through here, so that no promise
 * depends on the door.
 */
import type * as z from "zod";
import { actingFor, App } from "./base/app.ts";
import { approveEverything, type Call } from "./base/call.ts";
import { parseInput } from "./base/parse-input.ts";
import { resolvePaths, type Paths } from "./base/paths.ts";
import type { SubscribeOptions } from "../ledger/event-log.ts";
import { STORE_SETTING } from "../platform/settings/store-setting.ts";
import { maskingSecretsOf } from "../platform/masking.ts";
import type { DomainEvent } from "../domain/plan/events.ts";
import { tellNothing, type Tell } from "../domain/run-event.ts";
import type { ResolvedSetting } from "../domain/settings/settings.ts";
import { OPERATIONS, type InputOf, type OperationName, type OutputOf } from "./table/operation-table.ts";
import type { Environment } from "../domain/values/environment.ts";

/** Where the application lives, and who acts; everything has a default. */
export interface OpenOptions {
  /** Where everything is kept; the user's data directory unless given. */
  readonly dataDir?: string | undefined;
  /**
   * The address of a PostgreSQL database that several machines share, `postgres://user@host:5432/name`; a file
   * in the data directory unless given or configured.
   */
  readonly store?: string | undefined;
  readonly configPath?: string | undefined;
  /** Where relative paths begin; the working directory of this process unless given. */
  readonly directory?: string | undefined;
  /**
   * Settings that win over the environment and the configuration file, by key: `{ "core.automation-profile": "manual"
   * }`.
   */
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * Variables for settings, credentials and the commands of plans; those of this process unless given. Git and other
   * programs that CleverAgents starts for itself get those of this process.
   */
  readonly environment?: Environment;
  /** Who acts, as the audit log will say. */
  readonly user?: string | undefined;
  /** Hears of things that happen outside of a call, such as a recovery. */
  readonly tell?: Tell;
}

/**
 * The ports that a call may bring besides its input. Without `ask`, confirmations are given and a plan's question stays
 * open.
 */
export type CallOptions = Partial<Call> & {
  /** Who acts in this call, where it is not the user of the application. */
  readonly user?: string | undefined;
};

/** The opened application: `run` carries out an operation, leaving the scope (`await using`) closes it. */
export class CleverAgents {
  readonly #app: App;

  constructor(app: App) {
    this.#app = app;
  }

  get paths(): Paths {
    return this.#app.paths;
  }

  /**
   * Carries out an operation.
   *
   * @example const { plans } = await agents.run("plan.list", { limit: 10 });
   */
  async run<Name extends OperationName>(
    name: Name,
    input: InputOf<Name>,
    options: CallOptions = {},
  ): Promise<OutputOf<Name>> {
    const { operation } = await OPERATIONS[name].load();
    const call: Call = {
      signal: options.signal ?? new AbortController().signal,
      tell: options.tell ?? tellNothing,
      ask: options.ask ?? approveEverything,
      answers: options.answers ?? (options.ask === undefined ? "program" : "person"),
      meant: options.meant,
    };
    const parsed = parseInput(operation.input as z.ZodType, input);
    // Several applications may live in one process; each call runs commands by the settings of its own.
    const { withOwnCommandPolicy } = await import("../confinement/command-policy.ts");
    // The table ties each name to its operation; TypeScript cannot follow that through the union of all.
    const run = (): Promise<OutputOf<Name>> =>
      (operation.run as (...all: unknown[]) => Promise<OutputOf<Name>>)(this.#app, parsed, call);
    const { user } = options;
    const acting = user === undefined ? run : (): Promise<OutputOf<Name>> => actingFor(user, run);
    return maskingSecretsOf(this.#app.environment, () => withOwnCommandPolicy(acting));
  }

  /**
   * Every committed event once, in commit order, whichever process wrote it, until the signal ends it.
   *
   * @example for await (const { type } of agents.events({ after: 0, signal })) console.log(type);
   */
  async *events(options: SubscribeOptions = {}): AsyncGenerator<DomainEvent, void> {
    const { subscribeEvents } = await import("../ledger/event-log.ts");
    yield* subscribeEvents(await this.#app.store(), options);
  }

  /** Whether there is a store already: to look at something makes none. */
  hasStore(): Promise<boolean> {
    return this.#app.hasStore();
  }

  /** The value of a setting, and where it comes from. */
  setting(
    key: string,
    options: { readonly project?: string; readonly flag?: string | undefined } = {},
  ): Promise<ResolvedSetting> {
    return this.#app.setting(key, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#app[Symbol.asyncDispose]();
  }
}

/** Opens the application and recovers what a crash left. */
export async function openCleverAgents(options: OpenOptions = {}): Promise<CleverAgents> {
  const { app, agents } = composed(options);
  try {
    await maskingSecretsOf(app.environment, () => app.store());
  } catch (error) {
    await app[Symbol.asyncDispose]();
    throw error;
  }
  return agents;
}

/** The same, opened by the first operation that needs the store: for a command that may not need it. */
export function composeCleverAgents(options: OpenOptions = {}): CleverAgents {
  return composed(options).agents;
}

function composed(options: OpenOptions): { readonly app: App; readonly agents: CleverAgents } {
  const app = composeApp(options);
  return { app, agents: new CleverAgents(app) };
}

/** The parts of the application without its operations, for the other doors. */
export function composeApp(options: OpenOptions): App {
  const { dataDir, configPath, store, environment = process.env, user, tell = tellNothing } = options;
  const settings = { ...options.settings, ...(store === undefined ? {} : { [STORE_SETTING]: store }) };
  const directory = options.directory ?? process.cwd();
  const paths = resolvePaths({ dataDir, configPath }, environment, directory);
  return new App({ paths, directory, environment, user, tell, settings });
}
