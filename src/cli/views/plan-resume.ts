import type { Show } from "../terminal/show.ts";
import { applyPicture } from "./plan-apply.ts";
import { executionPicture } from "./plan-execute.ts";

export const show: Show<"plan.resume"> = (output, { verbose }) =>
  "outcome" in output ? executionPicture(output, { includeDirty: false, verbose }) : applyPicture(output);
