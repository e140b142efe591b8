/** The server's own operations; `agents server start` is a word of the command line alone. */
import { SERVER_ROLES } from "../../domain/names/server-roles.ts";
import type { TableEntry } from "../base/operation.ts";

export const SERVER_TABLE = {
  "server.status": {
    summary: "Say whether a server runs for the data directory, and where",
    role: "reader",
    writes: false,
    local: true,
    example: {},
    load: () => import("../operations/server-status.ts"),
  },
  "server.token.create": {
    summary: "Create a token by which a caller reaches the server; it is shown once",
    role: "owner",
    writes: true,
    parameters: [
      {
        name: "role",
        about: "what its holder may do: look; work with plans; change settings; manage tokens",
        value: "role",
        choices: SERVER_ROLES,
        required: true,
      },
      { name: "name", about: "whose it is; the audit log names it", value: "name" },
      { name: "expires", about: "how long it holds: 12h, 30d, 8w", value: "time" },
    ],
    example: { role: "editor", name: "ci", expires: "30d" },
    load: () => import("../operations/server-token-create.ts"),
  },
  "server.token.list": {
    summary: "List the tokens of the server, without their secrets",
    role: "owner",
    writes: false,
    example: {},
    load: () => import("../operations/server-token-list.ts"),
  },
  "server.token.revoke": {
    summary: "Take a token back; its holder is refused from then on",
    role: "owner",
    writes: true,
    parameters: [{ name: "token", about: "the token's id", positional: true, required: true }],
    example: { token: "3f9a0c5d7e21" },
    load: () => import("../operations/server-token-revoke.ts"),
  },
  "server.token.check": {
    summary: "Say for whom a token speaks",
    role: "owner",
    writes: true,
    hidden: true,
    local: true,
    parameters: [{ name: "token", about: "the whole token", required: true }],
    example: { token: "ca_3f9a0c5d7e21_…" },
    load: () => import("../operations/server-token-check.ts"),
  },
  "events.list": {
    summary: "List the stored events in commit order",
    role: "reader",
    writes: false,
    hidden: true,
    parameters: [
      { name: "after", about: "behind this sequence number", kind: "integer" },
      { name: "plan", about: "only of this plan", value: "plan" },
      { name: "limit", about: "at most this many", kind: "integer" },
    ],
    example: { after: 0 },
    load: () => import("../operations/events-list.ts"),
  },
} as const satisfies Readonly<Record<string, TableEntry>>;
