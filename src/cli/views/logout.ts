import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"logout"> = ({ provider, wasLoggedIn }) => ({
  view: [],
  messages: info(
    wasLoggedIn ? `Logged out of ${provider}; its token is removed.` : `You were not logged in to ${provider}.`,
  ),
});
