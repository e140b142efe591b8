import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";

export const show: Show<"mcp.server.remove"> = (output) =>
  output.removed ? { view: [], messages: info(`MCP server ${output.server} removed.`) } : declined("removed");
