/** Where a plan works without a sandbox. */
import * as z from "zod";
import type { Plan } from "../../domain/plan/plan.ts";
import { inPlaceOf } from "../../plans/in-place-rules.ts";
import type { Reader } from "../../store/port.ts";

export const InPlace = z.array(z.strictObject({ resource: z.string(), path: z.string() })).readonly();

/** Empty when it works in sandboxes. */
export async function placesOf(reader: Reader, plan: Plan): Promise<z.output<typeof InPlace>> {
  const places = await inPlaceOf(reader, plan);
  return places.map(({ alias, path }) => ({ resource: alias, path }));
}
