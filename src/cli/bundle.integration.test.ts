import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Agents, ROOT } from "./testing/agents.ts";
import { COMMANDS, GROUPS, SUBGROUPS } from "./words/command-table.ts";
import { buildProgram } from "./words/program.ts";

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
  const made = [join(ROOT, "bin/agents"), join(ROOT, "src/agents-program.ts")].map((program, run) => {
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

test.each(["bin/agents", "src/agents-program.ts"])("a command that cannot go on has not succeeded: %s", (program) => {
  using agents = new Agents();
  const words = ["--data-dir", agents.dataDir, "resource", "add", "fs-directory", "code", "--path", agents.directory];
  const options = `${process.env["NODE_OPTIONS"] ?? ""} --import=data:text/javascript,${encodeURIComponent(NEVER)}`;
  const { stdout, status } = spawnSync(process.execPath, [join(ROOT, program), ...words], {
    encoding: "utf8",
    env: { ...process.env, NODE_OPTIONS: options },
  });
  expect([stdout, status]).toEqual(["", 1]);
});

test("help that is answered at once is the help of the whole program, for every command", () => {
  const pages: unknown = JSON.parse(readFileSync(join(ROOT, "dist/help.json"), "utf8"));
  const paths = ["", ...Object.keys(GROUPS), ...Object.keys(SUBGROUPS), ...COMMANDS.map(({ path }) => path)];
  const whole = paths.map((path) => {
    const printed: string[] = [];
    const words = path.split(" ").filter((word) => word !== "");
    buildProgram((text) => printed.push(text), 80).parse([...words, "--help"]);
    return [path, printed.join("")];
  });
  expect(pages).toEqual(Object.fromEntries(whole));
  // Each family stands under a heading that says what it is for.
  expect(whole[0]?.[1]).not.toMatch(/^Commands:$/m);
});

test("the version and a page of help come without the whole program, unless a format is asked for", () => {
  using agents = new Agents();
  const run = (words: readonly string[], more: NodeJS.ProcessEnv = {}): readonly [string, number | null] => {
    const env = { ...process.env, HOME: agents.directory, CLEVERAGENTS_DATA_DIR: agents.dataDir, ...more };
    const { stdout, status } = spawnSync(process.execPath, [join(ROOT, "bin/agents"), ...words], {
      encoding: "utf8",
      env,
    });
    return [stdout, status];
  };
  const line = /^CleverAgents \d+\.\d+\.\d+ \(Node [\d.]+, SQLite [\d.]+\)\n$/;
  expect(run(["version"])).toEqual([expect.stringMatching(line), 0]);
  expect(run(["plan", "apply", "--help"])).toEqual([expect.stringMatching(/^Usage: agents plan apply /), 0]);
  expect(run(["version"], { CLEVERAGENTS_FORMAT: "json" })[0]).toContain('"command": "version"');
  mkdirSync(agents.dataDir, { recursive: true });
  writeFileSync(join(agents.dataDir, "config.yaml"), "core.format: json\n");
  expect(run(["version"])[0]).toContain('"command": "version"');
});
