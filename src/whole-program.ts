/** The whole program `agents`: the command line, the surfaces that it starts, and the loop of plan workers. */
import { startProgram } from "./cli/main.ts";
import { PROGRAM_DOORS } from "./program-doors.ts";

startProgram(PROGRAM_DOORS);
