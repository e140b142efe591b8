import { createHash } from "node:crypto";

const MAX_BYTES = 200;

/**
 * The breaker's name for a strategy of a project. Projects are kept apart: a broken index of one must not switch a
 * strategy off for all. Names too long for the breaker's table are cut and distinguished by a hash.
 */
export function circuitName(strategy: string, project: string): string {
  const name = `${strategy}@${project}`;
  if (Buffer.byteLength(name) <= MAX_BYTES && name.isWellFormed()) return name;
  return `${strategy.slice(0, 60).toWellFormed()}@${createHash("sha256").update(name).digest("hex")}`;
}
