/** The roles of a server's tokens: look, work with plans, change what holds for everyone, and let others in. */
export const SERVER_ROLES = ["viewer", "editor", "admin", "owner"] as const;
export type ServerRole = (typeof SERVER_ROLES)[number];
