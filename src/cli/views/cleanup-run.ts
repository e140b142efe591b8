import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";

export const show: Show<"cleanup.run"> = ({ removed, declined: refused }) =>
  refused === true
    ? declined("removed")
    : { view: [], messages: info(`${count(removed.length, "sandbox", "sandboxes")} removed.`) };
