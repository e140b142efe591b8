/**
 * Everything apply and undo do to a user's resource goes through here, one effect at a time, so that a test can stop
 * after each of them. Synchronous: a thousand files take a fifth of the time that a thousand promises do.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { git } from "../git/git.ts";

export interface FileEffects {
  /** Refuses to replace anything. */
  readonly write: (path: string, content: Uint8Array, permissions: number) => void;
  readonly symlink: (target: Uint8Array, path: string) => void;
  /** Gives the file a second name; refuses to replace anything. */
  readonly link: (from: string, to: string) => void;
  readonly rename: (from: string, to: string) => void;
  readonly remove: (path: string) => void;
  readonly makeDirectory: (path: string) => void;
  readonly removeDirectory: (path: string) => void;
  /** Only for a directory proven to be our own. */
  readonly removeTree: (path: string) => void;
  /** Returns when the file or directory is on disk. */
  readonly sync: (path: string) => void;
  /** Moves all refs of one repository at once, each only if it still points where the command says. */
  readonly updateRefs: (repository: string, commands: string, reason: string) => Promise<void>;
}

export const FILE_EFFECTS: FileEffects = {
  write: (path, content, permissions) => {
    const file = openSync(path, "wx", permissions);
    try {
      for (let done = 0; done < content.byteLength;) done += writeSync(file, content, done);
    } finally {
      closeSync(file);
    }
    // The permissions of a file are the user's: the mask of this process must not reduce them.
    if ((permissions & process.umask()) !== 0) chmodSync(path, permissions);
  },
  symlink: (target, path) => symlinkSync(Buffer.from(target), path),
  link: linkSync,
  rename: renameSync,
  remove: unlinkSync,
  makeDirectory: (path) => mkdirSync(path),
  removeDirectory: rmdirSync,
  removeTree: (path) => rmSync(path, { recursive: true, force: true }),
  sync: (path) => {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  },
  updateRefs: async (repository, commands, reason) => {
    const durable = ["-c", "core.fsync=committed,loose-object,reference"];
    await git([...durable, "update-ref", "-m", reason, "--stdin"], { cwd: repository, input: commands });
  },
};
