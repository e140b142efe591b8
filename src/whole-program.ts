/** The whole program `agents`: the command line, and beside it the surfaces that it starts. */
import { startProgram } from "./cli/main.ts";

startProgram({
  serveEditor: async (parts) => (await import("./acp/serve.ts")).serveEditor(parts),
  serveHttp: async (parts) => (await import("./server/http-server.ts")).serveHttp(parts),
});
