/** The whole program `agents`: the command line, and beside it the surfaces that it starts. */
import { startProgram } from "./cli/main.ts";
import { PROGRAM_DOORS } from "./program-doors.ts";

startProgram(PROGRAM_DOORS);
