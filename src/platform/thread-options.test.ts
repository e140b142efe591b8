import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

/** In a process of its own: whether compiled code is kept is decided once for all of it. */
function cacheOfThread(before: string): unknown {
  const { NODE_COMPILE_CACHE: _, NODE_DISABLE_COMPILE_CACHE: _disabled, ...env } = process.env;
  const code = `
    import { enableCompileCache } from "node:module";
    import { Worker } from "node:worker_threads";
    import { threadOptions } from ${JSON.stringify(new URL("./thread-options.ts", import.meta.url).href)};
    ${before}
    const body = 'require("worker_threads").parentPort.postMessage(require("module").getCompileCacheDir() ?? null)';
    new Worker(body, { eval: true, ...threadOptions() }).on("message", (directory) => console.log(JSON.stringify(directory)));`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", code], {
    encoding: "utf8",
    env,
  });
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout);
}

test("a thread keeps compiled code where its process does", () => {
  const directory = mkdtempSync(join(tmpdir(), "compiled-"));
  try {
    const enabled = `enableCompileCache(${JSON.stringify(directory)});`;
    expect(String(cacheOfThread(enabled)).startsWith(join(directory, `v${process.versions.node}`))).toBe(true);
    expect(String(cacheOfThread(enabled)).split(`v${process.versions.node}`)).toHaveLength(2);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("and nowhere when its process does not, although its flags are not the thread's", () => {
  expect(cacheOfThread("")).toBe(null);
});
