import { nextStep } from "../../domain/errors/next-step.ts";
import type { Show } from "../terminal/show.ts";
import { listed } from "./parts.ts";
import { placeText } from "./mcp-server-view.ts";

export const show: Show<"mcp.server.list"> = ({ servers, repository, total }) => ({
  view: [
    {
      kind: "table",
      title: "MCP servers",
      columns: [{ keep: "Name" }, "Plans of", "Command or url"],
      rows: servers.map((server) => [server.name, server.project ?? "all projects", placeText(server)]),
      empty: "No MCP servers yet.",
    },
    {
      kind: "fields",
      title: "Of this repository",
      rows:
        repository === null
          ? []
          : [
              ["file", repository.file],
              ["servers", repository.servers.join(", ")],
              ["state", repository.state],
            ],
    },
  ],
  messages: listed(total, "MCP server"),
  next: [
    ...(total === 0 ? [nextStep("mcp.server.add", { server: "<name>", command: ["<command>"] })] : []),
    ...(repository?.state === "not accepted" ? [nextStep("mcp.server.accept", {})] : []),
  ],
});
