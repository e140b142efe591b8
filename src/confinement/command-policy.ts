/**
 * The rules for every command of this process, besides its own options: set once, by the surface that knows the
 * user's settings, before anything runs. In a program that uses the library and sets nothing, commands get the
 * defaults. Calls of a surface that run side by side in one process each have a policy of their own.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { carryRulesOf, TOOL_DIRECTORIES, type CarryRules } from "../domain/settings/sandbox-settings.ts";
import type { Environment } from "../domain/values/environment.ts";

export interface CommandPolicy {
  /** Always hidden: the data directory, the configuration. */
  readonly hidden: readonly string[];
  /** Below the user's home, or absolute: shown read-only where they exist. */
  readonly toolDirectories: readonly string[];
  /** Shown read-only, also below a hidden place: the folders of the plan's skills. */
  readonly shownDirectories: readonly string[];
  /** Whether a command may make Unix sockets. */
  readonly unixSockets: boolean;
  /** Parts of the user's checkout that come along although they are not part of a plan. */
  readonly carry: CarryRules;
  /** The command that installs the dependencies of a project. */
  readonly setup: string | undefined;
  /** Hosts of registries, each with or without a port, that commands may reach where they may reach registries. */
  readonly registries: readonly string[];
  /** Names of variables that a command gets besides the usual ones. */
  readonly variables: readonly string[];
  /** The user's variables, from which a command gets its own. */
  readonly environment: Environment;
}

const DEFAULT: CommandPolicy = {
  hidden: [],
  toolDirectories: TOOL_DIRECTORIES,
  shownDirectories: [],
  unixSockets: false,
  carry: carryRulesOf(undefined),
  registries: [],
  setup: undefined,
  variables: [],
  environment: process.env,
};
const ofProcess: { current: CommandPolicy } = { current: DEFAULT };
const ofCall = new AsyncLocalStorage<{ current: CommandPolicy }>();

/** A policy set in `work` holds for `work` alone. */
export function withOwnCommandPolicy<T>(work: () => T): T {
  return ofCall.run({ current: DEFAULT }, work);
}

export function setCommandPolicy(policy: Partial<CommandPolicy>): CommandPolicy {
  const holder = ofCall.getStore() ?? ofProcess;
  holder.current = { ...holder.current, ...policy };
  return holder.current;
}

export function commandPolicy(): CommandPolicy {
  return (ofCall.getStore() ?? ofProcess).current;
}
