import { nextStep } from "../../domain/errors/next-step.ts";
import type { Show } from "../terminal/show.ts";
import { serverElement } from "./mcp-server-view.ts";

export const show: Show<"mcp.server.show"> = ({ server, loggedIn }) => ({
  view: [serverElement(server, loggedIn)],
  messages: [],
  next: [
    nextStep("mcp.server.test", {
      server: server.name,
      ...(server.project === null ? {} : { project: server.project }),
    }),
  ],
});
