/** For whom a request speaks, and what it may do: one table, and everything else is refused. */
import type { Role } from "../app/base/operation.ts";
import type { ServerRole } from "../domain/names/server-roles.ts";

export interface Bearer {
  readonly tokenId: string;
  readonly role: ServerRole;
  /** Who acts, as the audit log will say; undefined for the user whose server it is. */
  readonly user: string | undefined;
}

const MAY: Readonly<Record<ServerRole, readonly Role[]>> = {
  viewer: ["reader"],
  editor: ["reader", "operator"],
  admin: ["reader", "operator", "admin"],
  owner: ["reader", "operator", "admin", "owner"],
};

/** A token that may only look never writes, also where an operation for readers would. */
export function isAllowed(role: ServerRole, wanted: { readonly role: Role; readonly writes: boolean }): boolean {
  return MAY[role].includes(wanted.role) && !(role === "viewer" && wanted.writes);
}
