import { count } from "../format.ts";
import { info } from "../outcome.ts";
import type { Show } from "../show.ts";
import { fileTable } from "./patch.ts";

export const show: Show<"plan.artifacts"> = ({ artifacts }) => ({
  view: [fileTable(artifacts)],
  messages: info(`${count(artifacts.length, "artifact")} listed.`),
});
