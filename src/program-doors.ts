/** The other surfaces that the command line starts, each loaded when it is. */
import type { ProtocolDoors } from "./cli/terminal/protocol-doors.ts";

export const PROGRAM_DOORS: ProtocolDoors = {
  editor: async (parts) => (await import("./acp/serve.ts")).serveEditor(parts),
  plans: async (parts) => (await import("./mcp/serve-stdio.ts")).servePlans(parts),
  http: async (parts) => (await import("./server/http-server.ts")).serveHttp(parts),
};
