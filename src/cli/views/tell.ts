import type { Show } from "../terminal/show.ts";
import { carriedPicture } from "./run.ts";

export const show: Show<"tell"> = (output, { options, verbose }) =>
  carriedPicture(output, { includeDirty: false, agreed: options["yes"] === true, verbose });
