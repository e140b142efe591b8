import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"login.list"> = ({ logins }) => ({
  view: [
    {
      kind: "table",
      title: "Logins",
      columns: [{ keep: "Provider" }, "Logged in"],
      rows: logins.map(({ provider, loggedIn }) => [provider, loggedIn ? "yes" : "no"]),
      empty: "No provider has a login.",
    },
  ],
  messages: info("Other providers take a key: provider.<name>.api-key, or <NAME>_API_KEY."),
});
