/** The first and the last system calls of a confined command, the same under every backend that uses the loader. */
import { callFilter } from "./filter.ts";
import { may, must, NOT_STARTED, type KernelCall } from "./kernel-calls.ts";
import { RECORD_DESCRIPTOR, type ConfinedProgram } from "./backend.ts";
import { LIMITS } from "./limits.ts";

const AT_FDCWD = -100;
const READ_ONLY = 0;
const HIGHEST = 0xffffffff;
const SIGKILL = 9;
const SIGCHLD = 17;
const [PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS] = [1, 4, 38];
const SECCOMP_SET_MODE_FILTER = 1;

/** The first process records itself; and of all descriptors only its output stays open after these calls. */
export function firstCalls({ recorded }: ConfinedProgram): KernelCall[] {
  const line = new Uint8Array(1024);
  const said = [
    may("close", [3]),
    must("openat", [AT_FDCWD, "/proc/self/stat", READ_ONLY, 0], "/proc cannot be read"),
    must("read", [3, line, line.length], "/proc cannot be read"),
    must("write", [RECORD_DESCRIPTOR, line, line.length], "the command cannot be recorded"),
  ];
  return [
    ...(recorded ? said : []),
    must("close_range", [3, HIGHEST, 0], "descriptors cannot be closed"),
    must("prctl", [PR_SET_PDEATHSIG, SIGKILL], "it would outlive its parent"),
  ];
}

/**
 * The last calls before the command, and the same for every backend. The first process of the namespace stays behind
 * and waits: with it everything ends, so no command may reach into it, and it is not dumpable. The command has a
 * session of its own, so that what it sends to its group goes to none of ours.
 */
export function lastCalls({ command, environment }: ConfinedProgram, options: { unixSockets: boolean }): KernelCall[] {
  const filter = callFilter(options);
  const [program = ""] = command;
  const variables = Object.entries(environment).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  );
  return [
    must("prctl", [PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0], "it could gain privileges"),
    ...LIMITS.map(({ resource, most }) => must("prlimit64", [0, resource, limit(most), 0], "its limits cannot be set")),
    must("prctl", [PR_SET_DUMPABLE, 0], "its first process could be written to"),
    { ...must("clone", [SIGCHLD, 0, 0, 0, 0], "no process can be made"), rule: "fork" },
    must("setsid", [], "no session can be made"),
    ...(filter === undefined
      ? []
      : [must("seccomp", [SECCOMP_SET_MODE_FILTER, 0, { filter }], "system calls cannot be filtered")]),
    {
      ...must("execve", [program, command, variables], ""),
      complaint: `${program} cannot be started`,
      code: NOT_STARTED,
    },
  ];
}

function limit(most: number): Uint8Array {
  const bytes = Buffer.alloc(16);
  bytes.writeBigUInt64LE(BigInt(most), 0);
  bytes.writeBigUInt64LE(BigInt(most), 8);
  return bytes;
}
