/**
 * A command must stop writing into a sandbox that another process has taken over: its owner may merely be paused, and
 * then nothing ends the command. So each owner of a sandbox has a directory beside the tree, named for the epoch of
 * its lease, and each command, before it begins, records itself in a file there, and then checks that the file still
 * has its name. A later owner first removes the names of all earlier ones, then reads the files, ends those processes
 * and waits until they are gone; only then is the sandbox touched. In either order, the command is found or it does
 * not begin.
 *
 * A process is identified by its number together with the time it was started, in this boot of this machine: a number
 * alone may belong to another process by now. The processes that a command started end with the first process of its
 * namespace, and are gone when that is.
 */
import { randomUUID } from "node:crypto";
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { StaleLeaseError, StoreError } from "../domain/errors/errors.ts";
import { ifCode } from "../platform/contained-path.ts";

const OWNERS = "owners";
const GONE = ".gone";

/** Ends what earlier owners of the sandbox left running; refused for one that is itself an earlier owner by now. */
export async function endCommands(home: string, epoch: number): Promise<void> {
  const owners = join(home, OWNERS);
  const names = (await readdir(owners).catch(ifCode("ENOENT", "ENOTDIR"))) ?? [];
  if (names.some((name) => epochOf(name) > epoch)) throw takenOverError();
  for (const name of names) {
    const fenced = name.endsWith(GONE) ? name : `${name}${GONE}`;
    if (fenced !== name) await rename(join(owners, name), join(owners, fenced)).catch(ifCode("ENOENT"));
    for (const file of (await readdir(join(owners, fenced)).catch(ifCode("ENOENT"))) ?? []) {
      if (file.startsWith(machine())) await end(await readFile(join(owners, fenced, file), "utf8"));
    }
    await rm(join(owners, fenced), { recursive: true, force: true });
  }
}

/** From here on the sandbox belongs to this owner; returns the directory in which its commands record themselves. */
export async function ownCommands(home: string, epoch: number): Promise<string> {
  const directory = join(home, OWNERS, `${epoch}-${randomUUID()}`);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  return directory;
}

function epochOf(name: string): number {
  return Number.parseInt(name, 10);
}

/** The file in which one command records itself. */
export class RunningCommand implements Disposable {
  readonly file: string;
  readonly descriptor: number;

  constructor(directory: string) {
    this.file = join(directory, `${machine()}.${randomUUID()}`);
    try {
      this.descriptor = openSync(this.file, "wx", 0o600);
    } catch (error) {
      ifCode("ENOENT")(error);
      throw takenOverError();
    }
  }

  /**
   * Waits until nothing of it is left, after it was ended. The process that takes over waits for it too, and may have
   * the file by now.
   */
  async gone(): Promise<void> {
    if (!this.taken()) await end(readFileSync(this.file, "utf8"));
  }

  taken(): boolean {
    return !existsSync(this.file);
  }

  /**
   * Stops everything that it started, and returns what lets it go on: nothing of it writes in between. Its first
   * process only waits, and the process that ends it when we die is not in its namespace: both stay awake.
   */
  async pause(): Promise<() => void> {
    const stopped: Identity[] = [];
    const goOn = (): void => {
      for (const one of stopped) if (isAlive(one)) kill(one.pid, "SIGCONT");
    };
    const deadline = performance.now() + PATIENCE_MS;
    // One that was told to stop may start another before it does: a second look must find no more than the first.
    for (let still: string | undefined; ; await sleep(1)) {
      const { leader, first } = processesIn(contentOf(this.file));
      // It has ended, or the process that takes over has ended it.
      if (this.taken()) return () => undefined;
      if (leader !== undefined && !isAlive(first ?? leader)) return () => undefined;
      const below = first === undefined ? [] : processesBelow(first);
      const moving = below.filter(({ state }) => !STILL.has(state));
      // A shell that starts a program may wait in the kernel until that runs (vfork), and stops only then.
      const waiting = moving.filter(({ state }) => state === "D").map(({ pid }) => pid);
      for (const { pid, parent } of below) if (waiting.includes(parent)) kill(pid, "SIGCONT");
      for (const { pid, parent } of moving) if (!waiting.includes(parent)) kill(pid, "SIGSTOP");
      stopped.push(...moving);
      const seen = below.map(({ pid }) => pid).join();
      // Without one, the first process has not started the command yet.
      if (below.length > 0 && moving.length === 0 && still === seen) break;
      still = moving.length === 0 ? seen : undefined;
      if (performance.now() > deadline) {
        goOn();
        throw stuckProcessError(below[0]?.pid ?? 0);
      }
    }
    return goOn;
  }

  /** All that it started and that has not ended, each by a name that no later process has. */
  running(): ReadonlySet<string> {
    const { first } = processesIn(contentOf(this.file));
    const alive = first === undefined ? [] : processesBelow(first).filter(({ state }) => !["Z", "X"].includes(state));
    return new Set(alive.map(({ pid, started }) => `${pid} ${started}`));
  }

  [Symbol.dispose](): void {
    closeSync(this.descriptor);
    rmSync(this.file, { force: true });
  }
}

export function takenOverError(): StaleLeaseError {
  return new StaleLeaseError("Another process has taken the sandbox over.");
}

interface Identity {
  readonly pid: number;
  readonly started: string;
}

/**
 * How long a killed process may take until it is gone: one that waits for a disk or a network mount can take its
 * time.
 */
const PATIENCE_MS = 30_000;

async function end(record: string): Promise<void> {
  const { leader, first } = processesIn(record);
  if (leader === undefined) return;
  const group = first === undefined ? membersOf(leader) : [leader, first];
  if (isAlive(leader)) kill(-leader.pid);
  if (first !== undefined && isAlive(first)) kill(first.pid);
  const deadline = performance.now() + PATIENCE_MS;
  for (const one of group) {
    while (isAlive(one)) {
      if (performance.now() > deadline) throw stuckProcessError(one.pid);
      await sleep(2);
    }
  }
}

/** Of a command that is not confined: those that stayed in its group. No other end of it can be told. */
function membersOf(leader: Identity): Identity[] {
  if (!isAlive(leader)) return [];
  return allProcesses().filter(({ group }) => group === leader.pid);
}

/** Processes in these states do nothing, and start nothing. */
const STILL: ReadonlySet<string> = new Set(["T", "t", "Z", "X"]);

/** All that are left of what it started: in a namespace, those whose parents have ended are children of the first. */
function processesBelow({ pid }: Identity): Seen[] {
  const children = Map.groupBy(allProcesses(), ({ parent }) => parent);
  const found: Seen[] = [];
  const waiting = [pid];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const below = children.get(next) ?? [];
    found.push(...below);
    waiting.push(...below.map((one) => one.pid));
  }
  return found.sort((a, b) => a.pid - b.pid);
}

function allProcesses(): Seen[] {
  const names = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return names.flatMap((name) => statOf(Number(name)) ?? []);
}

/**
 * Lines as `/proc/PID/stat` has them: the process that leads the group, and the first one in its namespace, which
 * knows its own number only where it sees the /proc of outside; else bubblewrap has written it before.
 */
function processesIn(record: string): { leader: Identity | undefined; first: Identity | undefined } {
  const told = /"child-pid": (\d+)/.exec(record)?.[1];
  const [leader, first] = record.split(/[\0\n]+/).flatMap((line) => identityIn(line) ?? []);
  return { leader, first: first === undefined || told === undefined ? first : { ...first, pid: Number(told) } };
}

/** The name of the program in it may hold anything, also blanks and brackets. */
function identityIn(line: string): Seen | undefined {
  const pid = /^(\d+) \(/.exec(line)?.[1];
  const rest = line.slice(line.lastIndexOf(")") + 2).split(" ");
  const [state = "", parent = "", group = "", started = ""] = [rest[0], rest[1], rest[2], rest[19]];
  if (pid === undefined || started === "") return undefined;
  return { pid: Number(pid), started, state, parent: Number(parent), group: Number(group) };
}

interface Seen extends Identity {
  readonly state: string;
  readonly parent: number;
  readonly group: number;
}

function statOf(pid: number): Seen | undefined {
  try {
    return identityIn(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch (error) {
    return ifCode("ENOENT", "ESRCH")(error);
  }
}

/**
 * One that has ended and waits for its parent to take notice does nothing any more, and nothing is left in its
 * namespace.
 */
function isAlive({ pid, started }: Identity): boolean {
  const now = statOf(pid);
  return now?.started === started && !["Z", "X"].includes(now.state);
}

function kill(pid: number, signal: NodeJS.Signals = "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    ifCode("ESRCH")(error);
  }
}

function stuckProcessError(pid: number): StoreError {
  return new StoreError("store_busy", `A command of an earlier owner (process ${pid}) does not end.`, {
    kept: "Nothing was changed.",
    next: [{ text: "try again" }],
  });
}

let known: string | undefined;

/** This boot of this machine, and the namespace in which its processes have their numbers. */
function machine(): string {
  known ??= [contentOf("/proc/sys/kernel/random/boot_id"), namespaceOfProcesses()].join("-");
  return known;
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return "";
  }
}

function namespaceOfProcesses(): string {
  try {
    return basename(readlinkSync("/proc/self/ns/pid")).replace(/\D/g, "");
  } catch {
    return "";
  }
}
