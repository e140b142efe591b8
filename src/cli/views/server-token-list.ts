import { count, orDash } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"server.token.list"> = ({ tokens }) => ({
  view: [
    {
      kind: "table",
      title: "Tokens",
      columns: [{ keep: "Id" }, "Name", "Role", "Ends in", "State", "Expires", "Used"],
      rows: tokens.map(({ tokenId, name, role, lastFour, state, expiresAt, usedAt }) => [
        tokenId,
        name,
        role,
        lastFour,
        state,
        orDash(expiresAt),
        orDash(usedAt),
      ]),
      empty: "No tokens yet.",
    },
  ],
  messages: info(`${count(tokens.length, "token")} listed.`),
});
