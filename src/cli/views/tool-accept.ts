import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";

export const show: Show<"tool.accept"> = ({ tools, accepted }) => {
  const open = tools.filter(({ state }) => state === "not accepted");
  if (!accepted && open.length > 0) return declined("accepted");
  const ready = tools.filter(({ state }) => state === "ready").length;
  return { view: [], messages: info(`Plans use ${count(ready, "tool")} of this repository.`), next: [] };
};
