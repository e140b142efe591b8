/** The whole program `agents`: the command line, and beside it the surface that it starts for editors. */
import { startProgram } from "./cli/main.ts";

startProgram(async (parts) => (await import("./acp/serve.ts")).serveEditor(parts));
