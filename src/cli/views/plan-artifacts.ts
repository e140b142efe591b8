import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { fileTable } from "./patch.ts";

export const show: Show<"plan.artifacts"> = ({ artifacts }) => ({
  view: [fileTable(artifacts)],
  messages: info(`${count(artifacts.length, "artifact")} listed.`),
});
