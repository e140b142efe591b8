import { nextStep } from "../../domain/errors/next-step.ts";
import { info, type Message } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";
import { serverElement } from "./mcp-server-view.ts";

export const show: Show<"mcp.server.add"> = (output) => {
  if ("added" in output) return declined("added");
  const { servers, ignored } = output;
  const left: Message[] =
    ignored.length === 0 ? [] : [{ level: "warning", text: `Not known here, and left out: ${ignored.join(", ")}.` }];
  return {
    view: servers.map((server) => serverElement(server)),
    messages: [...servers.flatMap(({ name }) => info(`MCP server ${name} added.`)), ...left],
    next: servers
      .slice(0, 3)
      .map(({ name, project }) =>
        nextStep("mcp.server.test", { server: name, ...(project === null ? {} : { project }) }),
      ),
  };
};
