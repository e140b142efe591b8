/** Input is parsed once, at the edge: an operation can rely on it. */
import type * as z from "zod";
import { UsageError } from "../../domain/errors/errors.ts";

/** `spell` says the name of a key as its caller knows it. */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  spell: (name: string) => string = (name) => name,
): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => ({
    path: path.map((key, depth) => (depth === 0 ? spell(String(key)) : String(key))).join("."),
    message,
  }));
  const problems = issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  throw new UsageError(`${problems.join("; ")}.`, {
    kept: "Nothing was written.",
    detail: { issues },
  });
}
