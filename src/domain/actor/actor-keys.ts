import type { ValidationIssue } from "../errors/errors.ts";
import { heldKey } from "../secrets/redaction.ts";

const DEPTH_LIMIT = 64;
const BELONGS = "keys belong to the settings of a provider: agents config set provider.<name>.api-key-env <variable>";

/**
 * Keys for providers that stand in a definition, one way or the other. Definitions are stored, shown and passed on, so
 * a key in one would be too. `known` are the values of keys that are configured.
 */
export function keyIssues(value: unknown, known: readonly string[] = []): ValidationIssue[] {
  const issues: ValidationIssue[] = [];
  const seen = new Set<object>();
  const walk = (one: unknown, path: string, depth: number): void => {
    if (typeof one === "string") {
      const kind = heldKey(one, known);
      if (kind !== undefined) issues.push({ path, message: `holds a secret (${kind}); ${BELONGS}` });
    }
    if (typeof one !== "object" || one === null || seen.has(one) || depth > DEPTH_LIMIT) return;
    seen.add(one);
    for (const [key, item] of Object.entries(one)) {
      const at = path === "" ? key : `${path}.${key}`;
      // The token of a run stands in for a key and is worth nothing elsewhere.
      if (/api[_-]?key$/i.test(key) && !Array.isArray(one) && item !== "{token}")
        issues.push({ path: at, message: `is for a key; ${BELONGS}` });
      else walk(item, at, depth + 1);
    }
  };
  walk(value, "", 1);
  return issues;
}
