import { TOOL_DIRECTORIES } from "../../domain/sandbox-settings.ts";

/**
 * What holds for every command of this process, besides what it is started with: set once, by the surface that knows the user's
 * settings, before anything runs. A command of a library that sets nothing gets the defaults.
 */
export interface CommandPolicy {
  /** Hidden wherever they are: the data directory, the configuration. */
  readonly hidden: readonly string[];
  /** Below the user's home, or absolute: shown read-only where they exist. */
  readonly toolDirectories: readonly string[];
  /** Whether a command may make Unix sockets. */
  readonly unixSockets: boolean;
}

let current: CommandPolicy = { hidden: [], toolDirectories: TOOL_DIRECTORIES, unixSockets: false };

export function setCommandPolicy(policy: Partial<CommandPolicy>): CommandPolicy {
  current = { ...current, ...policy };
  return current;
}

export function commandPolicy(): CommandPolicy {
  return current;
}
