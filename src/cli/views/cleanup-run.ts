import { count } from "../format.ts";
import { info } from "../outcome.ts";
import type { Show } from "../show.ts";
import { declined } from "./declined.ts";

export const show: Show<"cleanup.run"> = ({ removed, declined: refused }) =>
  refused === true
    ? declined("removed")
    : { view: [], messages: info(`${count(removed.length, "sandbox", "sandboxes")} removed.`) };
