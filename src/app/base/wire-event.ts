/** An event as it goes out, on every surface: snake_case like the output of operations. */
import type { NextStep } from "../../domain/errors/next-step.ts";
import type { RunEvent } from "../../domain/run-event.ts";
import { snakeCase, type SpellStep } from "./wire.ts";

/** `spell` says the next steps in the surface's own way. */
export function wireEvent(event: RunEvent, spell: SpellStep): Record<string, unknown> {
  return wired(event, spell);
}

/** Facts of ours that a person should see before an answer: a preview, a comparison. */
export function wireFacts(facts: object, spell: SpellStep): Record<string, unknown> {
  return wired(facts, spell);
}

function wired(object: object, spell: SpellStep): Record<string, unknown> {
  const entries: (readonly [string, unknown])[] = Object.entries(object);
  return Object.fromEntries(
    entries.flatMap(([key, value]) => {
      if (value === undefined) return [];
      if (key === "next" && Array.isArray(value)) return [[key, value.map((step: NextStep) => spell(step))]];
      // The names of variables are data.
      return [[snakeCase(key), key === "variables" ? value : wiredValue(value, spell)]];
    }),
  );
}

function wiredValue(value: unknown, spell: SpellStep): unknown {
  if (Array.isArray(value)) return value.map((one) => wiredValue(one, spell));
  return typeof value === "object" && value !== null ? wired(value, spell) : value;
}
