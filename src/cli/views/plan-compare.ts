import type { Show } from "../terminal/show.ts";
import { comparisonView } from "./candidate-tables.ts";

export const show: Show<"plan.compare"> = (output) => ({ view: comparisonView(output), messages: [] });
