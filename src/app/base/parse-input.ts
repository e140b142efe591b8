/** Input is parsed once, at the edge: an operation can rely on it. */
import type * as z from "zod";
import { UsageError } from "../../domain/errors/errors.ts";

export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.map(String).join(".")}: ${message}`,
  );
  throw new UsageError(`${problems.join("; ")}.`, {
    kept: "Nothing was written.",
    detail: { issues: parsed.error.issues.map(({ path, message }) => ({ path: path.map(String).join("."), message })) },
  });
}
