import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"context.breakers.reset"> = ({ reset }) => ({
  view: [],
  messages: info(
    reset.length === 0
      ? "No breaker had anything to forget."
      : `${count(reset.length, "breaker")} reset: tried again at once, in every process.`,
  ),
});
