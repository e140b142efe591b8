/** The other surfaces that the command line starts, and the loop of plan workers; each is loaded when it is started. */
import type { ProtocolDoors } from "./cli/terminal/protocol-doors.ts";

export const PROGRAM_DOORS: ProtocolDoors = {
  editor: async (parts) => (await import("./acp/serve.ts")).serveEditor(parts),
  plans: async (parts) => (await import("./mcp/serve-stdio.ts")).servePlans(parts),
  http: async (parts) => (await import("./server/http-server.ts")).serveHttp(parts),
  work: async (parts) => (await import("./jobs/worker-loop.ts")).workOnPlans(parts),
};
