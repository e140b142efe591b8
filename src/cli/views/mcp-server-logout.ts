import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"mcp.server.logout"> = ({ server, wasLoggedIn }) => ({
  view: [],
  messages: info(wasLoggedIn ? `Logged out of ${server}.` : `You were not logged in at ${server}.`),
});
