import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"version"> = ({ version, node, sqlite }) => ({
  view: [],
  messages: info(`CleverAgents ${version} (Node ${node}, SQLite ${sqlite ?? "?"})`),
});
