/**
 * The filter's verdicts, found by running it as the kernel does: one system call after another, on both kinds of
 * processors.
 */
import { describe, expect, test } from "vitest";
import { callFilter } from "./filter.ts";
import { callNumber, type CallName } from "./kernel-calls.ts";

const AUDIT = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
const ALLOWED = "allowed";

interface Call {
  readonly number: number;
  readonly args?: readonly number[];
  readonly audit?: number;
}

function verdict(filter: Buffer, { number, args = [], audit = 0 }: Call): string | number {
  const seen = Buffer.alloc(64);
  seen.writeUInt32LE(number, 0);
  seen.writeUInt32LE(audit, 4);
  for (const [index, value] of args.entries()) seen.writeBigUInt64LE(BigInt(value), 16 + index * 8);
  let [at, loaded] = [0, 0];
  for (;;) {
    const [code, yes, no] = [filter.readUInt16LE(at * 8), filter.readUInt8(at * 8 + 2), filter.readUInt8(at * 8 + 3)];
    const value = filter.readUInt32LE(at * 8 + 4);
    at += 1;
    if (code === 0x20) loaded = seen.readUInt32LE(value);
    else if (code === 0x54) loaded = (loaded & value) >>> 0;
    else if (code === 0x15) at += loaded === value ? yes : no;
    else if (code === 0x35) at += loaded >= value ? yes : no;
    else if (code === 0x45) at += (loaded & value) !== 0 ? yes : no;
    else if (code === 0x06) return value === 0x7fff0000 ? ALLOWED : value & 0xffff;
    else throw new Error(`unknown instruction ${code}`);
  }
}

describe.each(["x64", "arm64"] as const)("on %s", (architecture) => {
  const make = (unixSockets: boolean): ((name: CallName, ...args: number[]) => string | number) => {
    const filter = callFilter({ unixSockets }, architecture);
    if (filter === undefined) throw new Error("there is no filter");
    return (name, ...args) =>
      verdict(filter, { number: callNumber(name, architecture) ?? -1, args, audit: AUDIT[architecture] });
  };
  const EPERM = 1;
  const ENOSYS = 38;
  const EAFNOSUPPORT = 97;

  test("sockets: what reaches other machines' programs and other programs here is refused, the rest is not", () => {
    const call = make(false);
    expect([2, 10].map((family) => call("socket", family, 1, 0))).toEqual([ALLOWED, ALLOWED]);
    expect(call("socket", 1, 1, 0)).toBe(EPERM);
    // Only the lower half of an argument counts for the kernel.
    expect(call("socket", 2 ** 32 + 1, 1, 0)).toBe(EPERM);
    expect(call("socket", 16, 3, 0)).toBe(ALLOWED);
    expect(call("socket", 16, 3, 12)).toBe(EAFNOSUPPORT);
    for (const family of [17, 31, 38, 40, 44]) expect(call("socket", family, 3, 0)).toBe(EAFNOSUPPORT);
    expect(call("socketpair", 1, 1, 0)).toBe(ALLOWED);
    expect(call("socketpair", 1, 0o2004001, 0)).toBe(ALLOWED);
    expect(call("socketpair", 1, 2, 0)).toBe(EPERM);
    expect(call("socketpair", 1, 0o2000002, 0)).toBe(EPERM);
    expect(make(true)("socket", 1, 1, 0)).toBe(ALLOWED);
    expect(make(true)("socketpair", 1, 2, 0)).toBe(ALLOWED);
    expect(make(true)("socket", 40, 1, 0)).toBe(EAFNOSUPPORT);
  });

  test("namespaces are not left, processes and threads are made as before", () => {
    const call = make(false);
    expect(call("clone", 17)).toBe(ALLOWED);
    expect(call("clone", 0x3d0f00)).toBe(ALLOWED);
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(call("clone", flag | 17)).toBe(EPERM);
      expect(call("unshare", flag)).toBe(EPERM);
    }
    expect(call("unshare", 0x400)).toBe(ALLOWED);
    expect(call("clone3", 0, 0)).toBe(ENOSYS);
    expect(
      ["setns", "mount", "umount2", "pivot_root", "mount_setattr", "kcmp"].map((name) => call(name as CallName)),
    ).toEqual(Array.from({ length: 6 }, () => EPERM));
    expect(call("io_uring_setup", 8, 0)).toBe(ENOSYS);
  });

  test("a terminal is not typed into, but asked", () => {
    const call = make(false);
    expect(call("ioctl", 0, 0x5401)).toBe(ALLOWED);
    expect(call("ioctl", 0, 0x5412)).toBe(EPERM);
    expect(call("ioctl", 0, 2 ** 32 + 0x5412)).toBe(EPERM);
    expect(["read", "write", "execve", "openat"].map((name) => call(name as CallName))).toEqual(
      Array.from({ length: 4 }, () => ALLOWED),
    );
  });

  test("calls in another way of counting are refused", () => {
    const filter = callFilter({ unixSockets: true }, architecture) ?? Buffer.alloc(0);
    expect(verdict(filter, { number: 1, audit: 0x40000003 })).toBe(ENOSYS);
    if (architecture === "x64") expect(verdict(filter, { number: 0x40000000 + 1, audit: AUDIT.x64 })).toBe(ENOSYS);
  });
});

test("there is none for processors whose numbers are not known", () => {
  expect(callFilter({ unixSockets: false }, "riscv64")).toBeUndefined();
});
