import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";

export const show: Show<"cleanup.run"> = ({ removed, cancelled, declined: refused }) =>
  refused === true
    ? declined("removed")
    : {
        view: [],
        messages: [
          ...info(`${count(removed.length, "sandbox", "sandboxes")} removed.`),
          ...(cancelled.length === 0
            ? []
            : info(`Cancelled, because another candidate was applied: ${cancelled.join(", ")}.`)),
        ],
      };
