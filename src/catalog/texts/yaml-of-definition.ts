/** How definitions are written as YAML. */
import { stringify } from "yaml";

/** The keys of one level with underscores, as authors write them. */
export function snakeKeys(value: object): Readonly<Record<string, unknown>> {
  const entries = Object.entries(value) as (readonly [string, unknown])[];
  return Object.fromEntries(
    entries.map(([key, one]) => [key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), one]),
  );
}

/** Keys without a value are left out; long texts stay in their lines. */
export function fileText(value: Readonly<Record<string, unknown>>): string {
  return stringify(JSON.parse(JSON.stringify(value)), { lineWidth: 0 });
}
