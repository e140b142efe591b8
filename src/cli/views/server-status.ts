import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"server.status"> = (output) => ({
  view: [],
  messages: output.running
    ? info(`A server runs at ${output.url} (process ${output.pid}, since ${output.startedAt}).`)
    : info("No server runs for this data directory."),
});
