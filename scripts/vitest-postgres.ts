import { endServers, ownServers, SERVERS_VARIABLE } from "../src/store/testing/postgres-server.ts";

/**
 * The process of the test run owns the PostgreSQL servers that its workers start when a test asks for one, and ends
 * them with the run. Several projects of one run share them.
 */
export default function ownTestServers(): () => void {
  if (process.env[SERVERS_VARIABLE] !== undefined) return () => undefined;
  const directory = ownServers();
  process.env[SERVERS_VARIABLE] = directory;
  return () => endServers(directory);
}
