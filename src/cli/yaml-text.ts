import { stringify } from "yaml";

/** The envelope as YAML, keys sorted. Goes through JSON first, so that both machine formats carry exactly the same values. */
export function yamlText(value: unknown): string {
  return stringify(JSON.parse(JSON.stringify(value)), { sortMapEntries: true, lineWidth: 0 });
}
