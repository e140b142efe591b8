/**
 * System calls by their numbers, in the order x64, arm64; -1 where there is no such call. Those that the loader
 * makes, and those that the filter knows; the manual pages say what each does.
 */
import { LIST_ADDRESS, LIST_LIMIT } from "./loader.ts";

const NUMBERS = {
  acct: [163, 89],
  add_key: [248, 217],
  adjtimex: [159, 171],
  bpf: [321, 280],
  capset: [126, 91],
  chdir: [80, 49],
  clock_adjtime: [305, 266],
  clock_settime: [227, 112],
  clone: [56, 220],
  clone3: [435, 435],
  close: [3, 57],
  close_range: [436, 436],
  delete_module: [176, 106],
  execve: [59, 221],
  exit_group: [231, 94],
  faccessat: [269, 48],
  finit_module: [313, 273],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  init_module: [175, 105],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  ioctl: [16, 29],
  ioperm: [173, -1],
  iopl: [172, -1],
  kcmp: [312, 272],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  mkdirat: [258, 34],
  mknodat: [259, 33],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  open_tree_attr: [467, 467],
  openat: [257, 56],
  perf_event_open: [298, 241],
  pidfd_getfd: [438, 438],
  pivot_root: [155, 41],
  prctl: [157, 167],
  prlimit64: [302, 261],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  read: [0, 63],
  reboot: [169, 142],
  request_key: [249, 218],
  seccomp: [317, 277],
  setns: [308, 268],
  setsid: [112, 157],
  settimeofday: [164, 170],
  socket: [41, 198],
  socketpair: [53, 199],
  swapoff: [168, 225],
  swapon: [167, 224],
  symlinkat: [266, 36],
  syslog: [103, 116],
  umount2: [166, 39],
  unshare: [272, 97],
  userfaultfd: [323, 282],
  write: [1, 64],
} as const satisfies Record<string, readonly [x64: number, arm64: number]>;

export type CallName = keyof typeof NUMBERS;

/** Undefined where the architecture has no such call. */
export function callNumber(name: CallName, architecture: string = process.arch): number | undefined {
  const number = NUMBERS[name][architecture === "arm64" ? 1 : 0];
  return number === -1 ? undefined : number;
}

/** Texts and bytes are handed over by address; so is a list of texts, and a filter in the kernel's own wrapping. */
export type Argument = number | string | Uint8Array | readonly string[] | { readonly filter: Uint8Array };

export interface KernelCall {
  readonly name: CallName;
  readonly args: readonly Argument[];
  /**
   * "must": a failure ends the program; "may": it continues either way; "fork": the child continues, the parent waits
   * for it and ends with the same result.
   */
  readonly rule: "must" | "may" | "fork";
  /** For "must" and "fork": the message for a failure, and its exit code. */
  readonly complaint?: string;
  readonly code?: number;
}

/**
 * No program of ours has it, and `timeout`, `env` and others use it for the same: it was not the command that failed.
 */
export const NOT_CONFINED = 125;
/** As shells say it of a program that cannot be started. */
export const NOT_STARTED = 127;
/** Begins every complaint of the loader. */
export const COMPLAINT = "cannot confine: ";

export const must = (name: CallName, args: readonly Argument[], complaint: string): KernelCall => ({
  name,
  args,
  rule: "must",
  complaint: `${COMPLAINT}${complaint}`,
  code: NOT_CONFINED,
});

export const may = (name: CallName, args: readonly Argument[]): KernelCall => ({ name, args, rule: "may" });

const STEP_BYTES = 88;
const RULES = { must: 0, may: 1, fork: 2 } as const;

/** The list as the loader reads it: its length, the calls, and behind them all that they point to. */
export function listOfCalls(calls: readonly KernelCall[]): Buffer {
  const head = Buffer.alloc(8 + calls.length * STEP_BYTES);
  const data = new Data(LIST_ADDRESS + head.length);
  for (const [index, { name, args, rule, complaint = "", code = 0 }] of calls.entries()) {
    const text = Buffer.from(complaint === "" ? "" : `${complaint}: error 000\n`);
    const words = [callNumber(name) ?? -1, ...Array.from({ length: 6 }, (_, at) => data.address(args[at] ?? 0))];
    const rest = [RULES[rule], text.length === 0 ? 0 : data.address(text), text.length, code];
    for (const [at, word] of [...words, ...rest].entries())
      head.writeBigInt64LE(BigInt(word), 8 + index * STEP_BYTES + at * 8);
  }
  const list = Buffer.concat([head, ...data.pieces]);
  list.writeBigInt64LE(BigInt(list.length), 0);
  if (list.length > LIST_LIMIT) throw new Error(`a command with its environment takes ${list.length} bytes`);
  return list;
}

/**
 * The data that calls point to. The same bytes are at the same address, so that one call can read what another one
 * wrote.
 */
class Data {
  readonly pieces: Buffer[] = [];
  readonly #known = new Map<unknown, number>();
  #next: number;

  constructor(address: number) {
    this.#next = address;
  }

  address(argument: Argument): number {
    if (typeof argument === "number") return argument;
    const known = this.#known.get(argument);
    if (known !== undefined) return known;
    const address = this.#put(this.#bytes(argument));
    this.#known.set(argument, address);
    return address;
  }

  #bytes(argument: Exclude<Argument, number>): Buffer {
    if (typeof argument === "string") {
      if (argument.includes("\0")) throw new TypeError("neither a command nor its environment can hold a zero byte");
      return Buffer.from(`${argument}\0`);
    }
    if (argument instanceof Uint8Array) return Buffer.from(argument);
    if (!isList(argument)) {
      const wrapping = Buffer.alloc(16);
      wrapping.writeUInt16LE(argument.filter.length / 8, 0);
      wrapping.writeBigInt64LE(BigInt(this.address(argument.filter)), 8);
      return wrapping;
    }
    const pointers = Buffer.alloc((argument.length + 1) * 8);
    for (const [at, text] of argument.entries()) pointers.writeBigInt64LE(BigInt(this.address(text)), at * 8);
    return pointers;
  }

  #put(bytes: Buffer): number {
    const address = this.#next;
    const padded = Buffer.alloc(Math.ceil(bytes.length / 8) * 8);
    bytes.copy(padded);
    this.pieces.push(padded);
    this.#next += padded.length;
    return address;
  }
}

function isList(argument: readonly string[] | { readonly filter: Uint8Array }): argument is readonly string[] {
  return Array.isArray(argument);
}
