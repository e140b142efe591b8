import { nextStep } from "../../domain/errors/next-step.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"mcp.server.login"> = ({ server, path }) => ({
  view: [],
  messages: info(`Logged in at ${server}. The tokens are in ${path}.`),
  next: [nextStep("mcp.server.test", { server })],
});
