import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Agents, ROOT } from "./testing/agents.ts";

/** Users run one file and its threads; most tests run the sources. */
test("the bundle makes the same context as the sources, with its own threads and tokenizer", () => {
  using agents = new Agents();
  const code = join(agents.directory, "code");
  mkdirSync(code);
  // More than are parsed without a thread.
  for (let at = 0; at < 20; at += 1) {
    const body = `export function ticket${at}(queue: string[]): number {\n  return queue.length + ${at};\n}\n`;
    writeFileSync(join(code, `ticket-${at}.ts`), at === 0 ? body : `import { ticket0 } from "./ticket-0.ts";\n${body}`);
  }
  const made = [join(ROOT, "bin/agents"), join(ROOT, "src/cli/main.ts")].map((program, run) => {
    const data = join(agents.directory, `data-${run}`);
    const words = ["--data-dir", data, "context", "pack", "--path", code, "--budget", "600", "who uses ticket0?"];
    const { stdout, stderr, status } = spawnSync(process.execPath, [program, ...words], { encoding: "utf8" });
    expect([stderr, status]).toEqual([expect.stringMatching(/ of 600 tokens .* counted by o200k_base/), 0]);
    return stdout;
  });
  const [bundle, sources] = made;
  expect(bundle).toBe(sources);
  expect(bundle).toContain("ticket0(queue: string[])");
});

/** A promise that never settles, and nothing else to wait for: Node then ends with exit code 0. */
const NEVER = `
  import files from "node:fs/promises";
  import { syncBuiltinESMExports } from "node:module";
  files.stat = files.realpath = () => new Promise(() => {});
  syncBuiltinESMExports();`;

test.each(["bin/agents", "src/cli/main.ts"])("a command that cannot go on has not succeeded: %s", (program) => {
  using agents = new Agents();
  const words = ["--data-dir", agents.dataDir, "resource", "add", "fs-directory", "code", "--path", agents.directory];
  const options = `${process.env["NODE_OPTIONS"] ?? ""} --import=data:text/javascript,${encodeURIComponent(NEVER)}`;
  const { stdout, status } = spawnSync(process.execPath, [join(ROOT, program), ...words], {
    encoding: "utf8",
    env: { ...process.env, NODE_OPTIONS: options },
  });
  expect([stdout, status]).toEqual(["", 1]);
});
