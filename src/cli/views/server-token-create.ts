import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"server.token.create"> = ({ token, name, role, expiresAt }) => ({
  view: [
    {
      kind: "fields",
      title: "Token",
      rows: [
        ["token", token],
        ["name", name],
        ["role", role],
        ["expires", expiresAt ?? "never"],
      ],
    },
  ],
  messages: info("Keep the token now: it is not shown again."),
});
