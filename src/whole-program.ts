/** The whole program `agents`: the command line, and beside it the surfaces that it starts for editors and agents. */
import { startProgram } from "./cli/main.ts";

startProgram({
  editor: async (parts) => (await import("./acp/serve.ts")).serveEditor(parts),
  plans: async (parts) => (await import("./mcp/serve-stdio.ts")).servePlans(parts),
});
