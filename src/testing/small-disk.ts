/** A disk of its own that is soon full, or read-only. Only root may mount one, and not in every container. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class SmallDisk implements Disposable {
  readonly path: string;

  constructor(megabytes: number) {
    this.path = mkdtempSync(join(tmpdir(), "cleveragents-disk-"));
    mkdirSync(this.path, { recursive: true });
    execFileSync("mount", ["-t", "tmpfs", "-o", `mode=0700,size=${megabytes}m`, "tmpfs", this.path], {
      stdio: "ignore",
    });
  }

  /** Whether this system lets us. */
  static possible(): boolean {
    try {
      new SmallDisk(1)[Symbol.dispose]();
      return true;
    } catch {
      return false;
    }
  }

  remount(options: string): void {
    execFileSync("mount", ["-o", `remount,${options}`, this.path]);
  }

  [Symbol.dispose](): void {
    execFileSync("umount", ["--lazy", this.path]);
    rmSync(this.path, { recursive: true, force: true });
  }
}
