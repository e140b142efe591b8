/** The name under which an act of a step is recorded. */
import { hash } from "node:crypto";

/** A key may be as long as the graphs in graphs are deep; a durable step's may not. */
const KEY_LIMIT = 150;

export function recordName(step: string, key: string): string {
  const whole = `${step}/${key}`;
  return whole.length <= KEY_LIMIT ? whole : `${whole.slice(0, KEY_LIMIT - 65)}#${hash("sha256", whole)}`;
}
