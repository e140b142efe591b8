/** Where confinement was asked for before it had more than one backend. */
export { canConfine } from "./confinement/here.ts";
