/** The whole program `agents`: the command line, the surfaces that it starts, and the loop of plan workers. */
import { startProgram } from "./cli/main.ts";

startProgram({
  serveEditor: async (parts) => (await import("./acp/serve.ts")).serveEditor(parts),
  workOnPlans: async (parts) => (await import("./jobs/worker-loop.ts")).workOnPlans(parts),
  serveHttp: async (parts) => (await import("./server/http-server.ts")).serveHttp(parts),
});
