import { userInfo } from "node:os";

/** The login name; in a container a user may have none, and then the number is what is known. */
export function loginName(lookUp: () => { username: string } = userInfo): string {
  try {
    return lookUp().username;
  } catch {
    return process.env["USER"] || `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
