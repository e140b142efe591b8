import { spawn } from "node:child_process";
import { findProgram, searchPath } from "./programs.ts";

/** How many bytes each directory takes on disk. Those that are gone meanwhile, or cannot be read, are left out. */
export async function diskUsage(directories: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>();
  if (directories.length === 0) return sizes;
  const program = findProgram("du");
  // A system without it has sandboxes of unknown size.
  if (program === undefined) return sizes;
  const env = { ...process.env, PATH: searchPath() };
  const child = spawn(program, ["-sk", "--", ...directories], { env, stdio: ["ignore", "pipe", "ignore"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  await new Promise<void>((resolve) => child.on("close", () => resolve()).on("error", () => resolve()));
  for (const line of text.split("\n")) {
    const [, kilobytes, directory] = /^(\d+)\t(.+)$/.exec(line) ?? [];
    if (directory !== undefined) sizes.set(directory, Number(kilobytes) * 1024);
  }
  return sizes;
}
