/**
 * The limits of what a command may use. Not limited, because no means that every system has can do it: the memory and
 * the disk space of all its processes together. A limit for the memory of one process would have to count what is
 * only reserved, of which sanitizers and virtual machines reserve terabytes. So the kernel is told instead to end the
 * command first when memory runs out.
 */
import { release } from "node:os";

const CORE = 4;
const FILE_SIZE = 1;
const PROCESSES = 6;

export const MOST_PROCESSES = 4096;
const LARGEST_FILE_BYTES: number = 4 * 1024 ** 3;

/**
 * Processes (and threads) are counted for each user namespace since Linux 5.14; before, for all that the user runs
 * anywhere.
 */
export const LIMITS: readonly { readonly resource: number; readonly most: number }[] = [
  { resource: CORE, most: 0 },
  { resource: FILE_SIZE, most: LARGEST_FILE_BYTES },
  ...(kernelSince(5, 14) ? [{ resource: PROCESSES, most: MOST_PROCESSES }] : []),
];

/**
 * Since Linux 6.14 each namespace of processes has its own highest number, which holds for root too. Before, it is
 * the machine's.
 */
export const HAS_OWN_HIGHEST_PROCESS: boolean = kernelSince(6, 14);

function kernelSince(major: number, minor: number): boolean {
  const [ours = 0, second = 0] = release().split(".").map(Number);
  return ours > major || (ours === major && second >= minor);
}
