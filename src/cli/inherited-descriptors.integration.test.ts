/** Files that the parent of `agents` had open do not reach any program that `agents` starts. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { Agents, ROOT } from "./testing/agents.ts";

test("our git, and so every other program, has no descriptor above 2 of them", async () => {
  using agents = new Agents();
  const seen = join(agents.directory, "seen");
  const git = join(agents.directory, "git");
  writeFileSync(git, `#!/bin/sh\nls -l /proc/$$/fd >> '${seen}'\necho git version 2.39.5\n`, { mode: 0o755 });
  const start = `exec 9<'${agents.directory}' 40<'${agents.directory}' 200>>'${join(agents.directory, "log")}'; exec "$@"`;
  const env = {
    ...process.env,
    PATH: `${agents.directory}${delimiter}${process.env["PATH"]}`,
    CLEVERAGENTS_DATA_DIR: agents.dataDir,
  };
  const words = ["-c", start, "bash", process.execPath, join(ROOT, "bin/agents"), "diagnostics"];
  await promisify(execFile)("bash", words, { env, cwd: agents.directory });
  const { stdout } = await promisify(execFile)("cat", [seen]);
  expect(stdout).toMatch(/ 0 -> /);
  expect(stdout).not.toMatch(/ (9|40|200) -> /);
});
