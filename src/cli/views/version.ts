import { info } from "../outcome.ts";
import type { Show } from "../show.ts";

export const show: Show<"version"> = ({ version, node, sqlite }) => ({
  view: [],
  messages: info(`CleverAgents ${version} (Node ${node}, SQLite ${sqlite ?? "?"})`),
});
