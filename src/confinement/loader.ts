/**
 * Mounts, limits and a filter for system calls must be requested from inside a new process. Node cannot do that, and
 * the programs that can are not the same everywhere. So we bring one: a program of 270 bytes that reads a list of
 * system calls from descriptor 4 and makes them one after another. It decides nothing; every decision is in the list,
 * which TypeScript writes (kernel-calls.ts). Its source is beside this file, one for each kind of processor:
 * loader-x64.s, which the tests run, and loader-arm64.s, which was only reviewed.
 *
 * It is executed through a descriptor of ours, and its file has no name any more then: there is nothing for a command
 * to change, and nothing to be found where a command may look.
 */
import { closeSync, openSync, rmSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

const CODE: Partial<Record<string, { readonly machine: number; readonly bytes: string }>> = {
  x64: {
    machine: 62,
    bytes:
      "uwAAABAxwL8EAAAASIneugAAQBBIKdoPBUiFwH4FSAHD6+JBvAAAABC/fQAAAEwp4w+EzwAAAEk7HCQPhcUAAABJg8QISYsEJEmLfCQISYt0JBBJi1QkGE2LVCQgTYtEJChNi0wkMA8FQYtMJDiD+QF0DkiFwHgPg/kCdQSFwHVLSYPEWOu+99hJi3QkQEmLfCRISI18Pv65CgAAAEG4AwAAADHS9/GAwjCIF0j/z0H/yHXvuAEAAAC/AgAAAEmLVCRIDwVJi3wkUOs6QYnFuD0AAABIx8f/////SI10JMAx0kUx0g8FRDnodeOLfCTAifjB7wiB5/8AAACD4H90Bo24gAAAALjnAAAADwU=",
  },
  arm64: {
    machine: 183,
    bytes:
      "FACi0hUAotIVCKLy6AeA0oAAgNLhAxSqogIUywEAANQfAADxbQAAVJQCAIv4//8XEwCi0qAPgNKUAhPrIAYAVGGGQPifAgHrwQUAVGgCQKlhCkGpYxJCqWUaQ6kBAADU3wQA8aAAAFTAAPi33wgA8UEAAFSgAgC1c2IBkfT//xfgAwDLYQpEqSMAAotjCADRRAGA0mUAgNIGCMSax4AEm+fAAJFn9B844AMGqqUEAPFB//9UCAiA0kAAgNIBAADUYCpA+Q8AABT2AwAqiCCA0gAAgJLhAwHRAgCA0gMAgNIBAADUHwAWayH//1ThA1y4IDwIUyEYAHJAAABUIAACEcgLgNIBAADU",
  },
};

/**
 * Where the code is, and where the list of calls goes: fixed, so that the list can be written with the addresses it
 * has there.
 */
const CODE_ADDRESS = 0x400000;
export const LIST_ADDRESS = 0x10000000;
/** As much as the loader reads. */
export const LIST_LIMIT: number = 4 * 1024 * 1024;

/** The kinds of processors for which there is one. */
export function hasLoader(architecture: string = process.arch): boolean {
  return process.platform === "linux" && CODE[architecture] !== undefined;
}

export function loaderCode(architecture: string): Buffer {
  return Buffer.from(CODE[architecture]?.bytes ?? "", "base64");
}

/** An executable of two segments: the code, and room for the list. Aligned for pages of any size. */
function loaderImage(architecture: string = process.arch): Buffer {
  const code = loaderCode(architecture);
  const headers = 64 + 2 * 56;
  const image = Buffer.alloc(headers + code.length);
  image.write("\x7fELF\x02\x01\x01", 0, "latin1");
  image.writeUInt16LE(2, 16);
  image.writeUInt16LE(CODE[architecture]?.machine ?? 0, 18);
  image.writeUInt32LE(1, 20);
  image.writeBigUInt64LE(BigInt(CODE_ADDRESS + headers), 24);
  image.writeBigUInt64LE(64n, 32);
  image.writeUInt16LE(64, 52);
  image.writeUInt16LE(56, 54);
  image.writeUInt16LE(2, 56);
  segment(image, 64, { flags: 5, address: CODE_ADDRESS, inFile: image.length, inMemory: image.length });
  segment(image, 120, { flags: 6, address: LIST_ADDRESS, inFile: 0, inMemory: LIST_LIMIT });
  code.copy(image, headers);
  return image;
}

function segment(
  image: Buffer,
  at: number,
  parts: { flags: number; address: number; inFile: number; inMemory: number },
): void {
  image.writeUInt32LE(1, at);
  image.writeUInt32LE(parts.flags, at + 4);
  image.writeBigUInt64LE(BigInt(parts.address), at + 16);
  image.writeBigUInt64LE(BigInt(parts.address), at + 24);
  image.writeBigUInt64LE(BigInt(parts.inFile), at + 32);
  image.writeBigUInt64LE(BigInt(parts.inMemory), at + 40);
  image.writeBigUInt64LE(0x10000n, at + 48);
}

/**
 * Where it may be written for the moment until it is open; some mount one or the other so that nothing in it can be
 * executed.
 */
export function loaderPlaces(): readonly string[] {
  return [...new Set([tmpdir(), "/dev/shm", homedir()])];
}

/** A descriptor to execute it by. */
export function openLoader(directory: string): number {
  const file = join(directory, `.cleveragents-${randomUUID()}`);
  try {
    writeFileSync(file, loaderImage(), { flag: "wx", mode: 0o500 });
    return openSync(file, "r");
  } finally {
    rmSync(file, { force: true });
  }
}

export function closeLoader(descriptor: number): void {
  closeSync(descriptor);
}
