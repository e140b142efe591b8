/**
 * One file, as it is at one moment: bytes, hash and text, or why there is none. It is opened without following a link
 * and without waiting (opening a pipe under that name would otherwise never return), and the opened file, not the path,
 * is checked for its kind.
 */
import { hash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { type Absent, absenceOf, stampOf } from "./file-probe.ts";

interface ReadFile {
  readonly is: "read";
  readonly stamp: string;
  /**
   * Changed so shortly before it was read that another change may leave no trace in the stamp: to be read again next
   * time.
   */
  readonly racy: boolean;
  readonly size: number;
  readonly hash: string;
  readonly bytes: Uint8Array;
}

export type Reading =
  | ReadFile
  | { readonly is: "binary"; readonly size: number; readonly stamp: string; readonly racy: boolean }
  | Absent;

/** Git's rule: a NUL among the first bytes. */
const BINARY_WITHIN = 8_000;
/** File systems count time in steps of up to two seconds. */
const COARSEST_MS = 2_000;
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

export function readFile(file: string, maxFileSize: number): Reading {
  let descriptor: number;
  try {
    descriptor = openSync(file, FLAGS);
  } catch (error) {
    return absenceOf(error);
  }
  try {
    const before = fstatSync(descriptor, { bigint: true });
    if (!before.isFile()) return { is: "gap", reason: "not a regular file" };
    const { size, stamp } = stampOf(before);
    if (size > maxFileSize) return { is: "gap", reason: tooLarge(maxFileSize) };
    const changedMs = Math.max(Number(before.mtimeMs), Number(before.ctimeMs));
    const racy = changedMs >= Date.now() - COARSEST_MS;
    const bytes = readUpTo(descriptor, size, maxFileSize);
    if (bytes === undefined) return { is: "gap", reason: tooLarge(maxFileSize) };
    // A file that changes while it is read has the stamp from before, so the next sync finds it changed.
    if (bytes.subarray(0, BINARY_WITHIN).includes(0)) return { is: "binary", size, stamp, racy };
    return { is: "read", size, stamp, racy, hash: hash("sha256", bytes), bytes };
  } catch (error) {
    return absenceOf(error);
  } finally {
    closeSync(descriptor);
  }
}

/** Reads to the end, which may differ from the expected size; undefined when there is no end within the limit. */
function readUpTo(descriptor: number, expected: number, limit: number): Uint8Array | undefined {
  let bytes = Buffer.allocUnsafe(expected + 1);
  let length = 0;
  for (;;) {
    const read = readSync(descriptor, bytes, length, bytes.length - length, length);
    length += read;
    if (length > limit) return undefined;
    if (read === 0) return bytes.subarray(0, length);
    if (length === bytes.length) bytes = Buffer.concat([bytes, Buffer.allocUnsafe(bytes.length)]);
  }
}

export function tooLarge(limit: number): string {
  return limit % 1_048_576 === 0 ? `larger than ${limit / 1_048_576} MiB` : `larger than ${limit} bytes`;
}
