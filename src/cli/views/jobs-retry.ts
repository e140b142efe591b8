import type { Show } from "../terminal/show.ts";
import { queuedPicture } from "./queued.ts";

export const show: Show<"jobs.retry"> = (output) => queuedPicture(output);
