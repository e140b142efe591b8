/** The whole program `agents`: the command line, and beside it what it starts for editors and for queued plans. */
import { startProgram } from "./cli/main.ts";

startProgram({
  serveEditor: async (parts) => (await import("./acp/serve.ts")).serveEditor(parts),
  workOnPlans: async (parts) => (await import("./jobs/worker-loop.ts")).workOnPlans(parts),
});
