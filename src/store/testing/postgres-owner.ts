/** A test run that starts a server and then does nothing, for a test that kills it. */
import { ownServers, serverAddress, SERVERS_VARIABLE } from "./postgres-server.ts";

const directory = ownServers();
process.env[SERVERS_VARIABLE] = directory;
const address = await serverAddress("packaged");
process.stdout.write(`${JSON.stringify({ directory, url: address("postgres") })}\n`);
setInterval(() => undefined, 60_000);
