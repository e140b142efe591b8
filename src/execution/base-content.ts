import { join } from "node:path";
import { readState, type FileState } from "./file-state.ts";
import { git } from "./git.ts";
import { EXECUTABLE, LINK, REGULAR } from "./file-state.ts";
import type { Sandbox } from "./sandbox.ts";

/** What a path held when the plan began: in the commit it started from, or in the copy that is kept beside the sandbox. */
export async function baseState(sandbox: Sandbox, path: string): Promise<FileState | undefined> {
  if (sandbox.base === undefined) return readState(join(sandbox.root, "..", "base"), path);
  // With "./" in front a name that begins with ":" is no pattern.
  const { stdout } = await git(["ls-tree", "-z", sandbox.base, "--", `./${path}`], {
    cwd: sandbox.root,
    sandbox: true,
  });
  const [mode, type, oid] = stdout.toString("utf8").split("\t", 1)[0]?.split(" ") ?? [];
  if (type !== "blob" || oid === undefined) return undefined;
  const content = (await git(["cat-file", "blob", oid], { cwd: sandbox.root, sandbox: true })).stdout;
  return { content, mode: mode === "120000" ? LINK : mode === "100755" ? EXECUTABLE : REGULAR };
}
