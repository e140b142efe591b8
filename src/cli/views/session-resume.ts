import type { Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";
import { applyPicture } from "./plan-apply.ts";
import { carriedPicture } from "./run.ts";

export const show: Show<"session.resume"> = (output, { options, verbose }) => {
  if ("outcome" in output)
    return carriedPicture(output, { includeDirty: false, agreed: options["yes"] === true, verbose });
  return output.applied ? applyPicture(output) : declined("applied");
};
