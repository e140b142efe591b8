import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"mcp.server.accept"> = ({ file, accepted, servers }) => ({
  view: [],
  messages: info(
    accepted
      ? `Plans of this repository use the MCP servers of ${file}: ${servers.join(", ")}. A changed file is asked for again.`
      : `The MCP servers of ${file} are not used.`,
  ),
});
