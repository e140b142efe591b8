import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"server.token.revoke"> = ({ tokenId, name }) => ({
  view: [],
  messages: info(`Token ${tokenId} (${name}) revoked.`),
});
