/**
 * Starts a program with a watcher beside it that holds the other end of a pipe of ours: when this process dies,
 * however it dies, the pipe closes and the watcher ends the whole group, so that no process keeps writing into a
 * sandbox that another process resumes. Confined ones too: both bubblewrap and unshare ask to die with their parent a
 * moment after they were started, and outlive one that is killed before. All of it is done by the shell itself,
 * without a further process.
 *
 * The group is the first to go when memory runs out. Then it records itself, and checks whether it may continue
 * (running-command.ts).
 */
import { spawn, type ChildProcess } from "node:child_process";
import { endGroup } from "../platform/process-group.ts";
import type { Launch } from "./backend.ts";
import type { RunningCommand } from "./running-command.ts";

const WATCHED = [
  "{ read -r _ <&3; kill -s KILL -- -$$; } 4<&- 5<&- 6<&- 7<&- &",
  "exec 3<&-",
  "{ echo 900 >/proc/self/oom_score_adj; } 2>/dev/null",
  'if [ -n "$1" ]; then { read -r s </proc/$$/stat && echo "$s" >&6; } 2>/dev/null',
  '[ -e "$1" ] || exit 124; fi; shift',
].join("\n");

/** The exit code of a command that did not begin because another process had taken over. */
export const NOT_BEGUN = 124;

export interface StartCommandOptions {
  readonly cwd: string;
  readonly record: RunningCommand | undefined;
  readonly input?: "pipe" | "ignore";
  /** The program's errors go where its output goes, in the order in which it prints them. */
  readonly oneStream?: boolean;
}

/** A child that leads a group of its own. */
export function startLaunched(launch: Launch, options: StartCommandOptions): ChildProcess {
  const { cwd, record, input = "ignore", oneStream = false } = options;
  const { program, args, environment, loaded } = launch;
  const closed = loaded === undefined ? " 4<&- 5<&- 6<&- 7<&-" : "";
  const script = `${WATCHED}\nexec "$@"${oneStream ? " 2>&1" : ""}${closed}`;
  const said = record?.descriptor ?? "ignore";
  const child = spawn("/bin/sh", ["-c", script, "sh", record?.file ?? "", program, ...args], {
    cwd,
    env: { ...environment },
    detached: true,
    stdio: [
      input,
      "pipe",
      "pipe",
      "pipe",
      loaded === undefined ? "ignore" : "pipe",
      loaded?.descriptor ?? "ignore",
      said,
      said,
    ],
  });
  // The watcher ends with it, and every process that an unconfined command left in its group.
  child.on("exit", () => endGroup(child.pid));
  const list = child.stdio[4];
  // One that was killed before it had read them needs them no more.
  if (loaded !== undefined && list != null && "end" in list) list.on("error", () => undefined).end(loaded.calls);
  return child;
}
