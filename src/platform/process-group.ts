import { ifCode } from "./contained-path.ts";

/** Ends a process that leads its group, and all it started with it. One that is gone already is fine. */
export function endGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, "SIGKILL");
  } catch (error) {
    ifCode("ESRCH")(error);
  }
}
