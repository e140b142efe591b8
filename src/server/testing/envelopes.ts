/** A server spells next steps as requests and the command line as commands: everything else must be equal. */
export function withoutSteps(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(withoutSteps);
  if (typeof data !== "object" || data === null) return data;
  return Object.fromEntries(
    Object.entries(data).flatMap(([key, value]) => (key === "next_steps" ? [] : [[key, withoutSteps(value)] as const])),
  );
}
