import type { Show } from "../terminal/show.ts";
import { applyPicture } from "./plan-apply.ts";

export const show: Show<"plan.choose"> = (output) => applyPicture(output);
