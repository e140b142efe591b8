/** An MCP server as people see it. */
import type { OutputOf } from "../../app/table/operation-table.ts";
import { orDash } from "../terminal/format.ts";
import type { Element } from "../terminal/view.ts";

type ShownServer = OutputOf<"mcp.server.show">["server"];

export function serverElement(server: ShownServer, loggedIn: boolean | null = null): Element {
  return {
    kind: "fields",
    title: server.name,
    rows: [
      [server.url === null ? "command" : "url", placeText(server)],
      ...(server.url === null ? ([["directory", orDash(server.cwd)]] as const) : []),
      ["plans of", server.project ?? "all projects"],
      ["runs", rightsText(server)],
      ...server.values.map(({ name, from }) => [name, from] as const),
      ["tools", server.tools === null ? "all" : server.tools.join(", ")],
      ["read-only tools", server.readOnlyTools.length === 0 ? "none" : server.readOnlyTools.join(", ")],
      ["time limit", `${server.timeoutMs / 1000} s for a call`],
      ...(loggedIn === null ? [] : ([["login", loggedIn ? "yes" : "no"]] as const)),
      ["added", server.createdAt],
    ],
  };
}

export function placeText({ url, command }: ShownServer): string {
  return url ?? (command ?? []).join(" ");
}

function rightsText({ url, worksIn, confined }: ShownServer): string {
  if (url !== null) return "elsewhere";
  if (worksIn === "sandbox") return "confined, in the sandbox of the plan, for one call at a time";
  return confined ? "confined; it can read the sandbox of the plan" : "with your rights, and a clean environment";
}
