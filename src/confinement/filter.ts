/**
 * The filter for system calls (seccomp) that a command and all it starts run under: a program for the kernel's own
 * small machine. It refuses with an error, never by killing, so that programs behave as on a system that lacks the
 * call.
 *
 * Unix sockets: the sockets of other programs obey every program that reaches them (Docker, agents for keys,
 * desktops), and a mount namespace hides only those in hidden directories. The filter sees numbers, not the addresses
 * behind pointers: it cannot tell a `connect` to a socket from one to 127.0.0.1, which tests of servers need. So the
 * socket itself is refused: `socket(AF_UNIX)`. Pairs of connected sockets (how Node talks to its children, and shells
 * in pipes) stay, but not pairs of datagram sockets, which can be connected once more, to any path. Tried with this:
 * git, node with its workers and http, python, gcc and make work as before. Programs that listen on a Unix socket of
 * their own do not (tsx, multiprocessing by "forkserver"): for those is the setting `sandbox.unix-sockets`.
 *
 * Other families: raw packets, the host of a virtual machine (vsock), Bluetooth, crypto and the like are refused.
 * Left are IPv4, IPv6 and the part of netlink that lists a machine's own addresses.
 */
import { callNumber, type CallName } from "./kernel-calls.ts";

export interface FilterOptions {
  readonly unixSockets: boolean;
}

/**
 * With one of these a process changes what it is confined by, or reaches parts of the kernel that no build and no
 * test needs. `ptrace` is not among them: leak sanitizers need it, and it reaches no process outside of the command's
 * own namespace.
 */
const REFUSED: readonly CallName[] = [
  ...(["mount", "umount2", "pivot_root", "move_mount", "open_tree", "open_tree_attr", "mount_setattr"] as const),
  ...(["fsopen", "fsconfig", "fsmount", "fspick", "setns", "open_by_handle_at"] as const),
  ...(["pidfd_getfd", "kcmp"] as const),
  ...(["kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot"] as const),
  ...(["swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "syslog", "iopl", "ioperm"] as const),
  ...(["settimeofday", "clock_settime", "clock_adjtime", "adjtimex"] as const),
  ...(["bpf", "perf_event_open", "userfaultfd"] as const),
];

/**
 * As if the kernel did not have them, so that programs take the older way: `clone3` hides its flags behind a pointer,
 * where no filter sees them, and libraries fall back to `clone`; `io_uring` makes calls that no filter sees. Keys of
 * the user's session belong to the user alone.
 */
const MISSING: readonly CallName[] = [
  ...(["clone3", "io_uring_setup", "io_uring_enter", "io_uring_register"] as const),
  ...(["keyctl", "add_key", "request_key"] as const),
];

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;
const SOCK_DGRAM = 2;
const SOCK_TYPE = 0xf;

/** Namespaces of all kinds, in the flags of `clone` and `unshare`. */
const NEW_NAMESPACES = 0x7e020080;
/** Types into a terminal as if a person had. */
const TERMINAL_INPUT = [0x5412, 0x541c];

const ARCHITECTURES: Partial<Record<string, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };
/** On x64 a second way to make the same calls, by other numbers. */
const X32 = 0x40000000;

/**
 * Where the kernel puts what a filter sees. Of arguments the lower half: that is all the kernel takes of those that
 * count here.
 */
const NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (index: number): number => 16 + index * 8;

type Instruction = readonly [code: number, yes: number, no: number, value: number];

const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const and = (value: number): Instruction => [0x54, 0, 0, value];
const allow: Instruction = [0x06, 0, 0, 0x7fff0000];
const refuse = (error: number): Instruction => [0x06, 0, 0, 0x00050000 | error];
/** Runs `then` when the loaded value is this one, and else continues after it. */
const when = (value: number, then: readonly Instruction[]): Instruction[] => [[0x15, 0, then.length, value], ...then];
const unless = (value: number, then: readonly Instruction[]): Instruction[] => [[0x15, then.length, 0, value], ...then];
const whenAtLeast = (value: number, then: readonly Instruction[]): Instruction[] => [
  [0x35, 0, then.length, value],
  ...then,
];
const whenAny = (bits: number, then: readonly Instruction[]): Instruction[] => [[0x45, 0, then.length, bits], ...then];

/** Undefined for processors whose numbers are not known here. */
export function callFilter(options: FilterOptions, architecture: string = process.arch): Buffer | undefined {
  const audit = ARCHITECTURES[architecture];
  if (audit === undefined) return undefined;
  const call = (name: CallName, then: readonly Instruction[]): Instruction[] => {
    const number = callNumber(name, architecture);
    return number === undefined ? [] : when(number, then);
  };
  const program = [
    // Programs for another kind of processor make calls by other numbers: none of them, rather than some unseen.
    load(ARCHITECTURE),
    ...unless(audit, [refuse(ENOSYS)]),
    load(NUMBER),
    ...(architecture === "x64" ? whenAtLeast(X32, [refuse(ENOSYS)]) : []),
    ...REFUSED.flatMap((name) => call(name, [refuse(EPERM)])),
    ...MISSING.flatMap((name) => call(name, [refuse(ENOSYS)])),
    ...call("socket", socket(options)),
    ...(options.unixSockets
      ? []
      : call("socketpair", [load(argument(1)), and(SOCK_TYPE), ...when(SOCK_DGRAM, [refuse(EPERM)]), allow])),
    ...call("clone", [load(argument(0)), ...whenAny(NEW_NAMESPACES, [refuse(EPERM)]), allow]),
    ...call("unshare", [load(argument(0)), ...whenAny(NEW_NAMESPACES, [refuse(EPERM)]), allow]),
    ...call("ioctl", [load(argument(1)), ...TERMINAL_INPUT.flatMap((code) => when(code, [refuse(EPERM)])), allow]),
    allow,
  ];
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, yes, no, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(yes, index * 8 + 2);
    bytes.writeUInt8(no, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}

function socket({ unixSockets }: FilterOptions): Instruction[] {
  return [
    load(argument(0)),
    ...when(AF_INET, [allow]),
    ...when(AF_INET6, [allow]),
    ...when(AF_UNIX, [unixSockets ? allow : refuse(EPERM)]),
    ...unless(AF_NETLINK, [refuse(EAFNOSUPPORT)]),
    load(argument(2)),
    ...when(NETLINK_ROUTE, [allow]),
    refuse(EAFNOSUPPORT),
  ];
}
