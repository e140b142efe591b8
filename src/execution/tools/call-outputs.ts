/**
 * The whole output of a command, when it is longer than its caller is shown. It is a durable content, recorded together
 * with the call that made it, and can be read and searched under a path that no file has: it is never part of the
 * plan's changes.
 */
const PLACE = ".agent/out/";

export interface CallOutputs {
  /** Keeps an output of the call `by`; it is durable once the call is recorded. Returns the hash of its bytes. */
  keep(by: string, output: string | Uint8Array): Promise<string>;
  /** The output of a recorded call of this attempt; undefined when it has none. */
  read(by: string): Promise<string | undefined>;
}

/** The path under which the output of a call can be read. */
export function outputPath(by: string): string {
  return `${PLACE}${by}`;
}

/** The call whose output a path stands for; undefined for every other path. */
export function callOfPath(path: string): string | undefined {
  const given = path.startsWith("./") ? path.slice(2) : path;
  return given.startsWith(PLACE) ? given.slice(PLACE.length) : undefined;
}
