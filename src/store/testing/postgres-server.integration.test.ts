/** Test servers leave nothing behind, also when the run that owns them is killed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { endAbandoned, missingServer } from "./postgres-server.ts";
import { command } from "./postgres-databases.ts";

const missing = missingServer("packaged");
const OWNER = fileURLToPath(new URL("./postgres-owner.ts", import.meta.url));

test.skipIf(missing !== undefined)(
  `the server of a run that was killed is ended by the next one (${missing ?? "packaged PostgreSQL"})`,
  async () => {
    const owner = spawn(process.execPath, [OWNER], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = await once(createInterface(owner.stdout), "line");
    const { directory, url } = JSON.parse(String(line)) as { directory: string; url: string };
    const [pid = ""] = readFileSync(join(directory, "packaged", "data", "postmaster.pid"), "utf8").split("\n");
    endAbandoned();
    await command(url, (client) => client.query("SELECT 1"));
    owner.kill("SIGKILL");
    await once(owner, "exit");
    endAbandoned();
    expect(existsSync(directory)).toBe(false);
    await expect(command(url, (client) => client.query("SELECT 1"))).rejects.toThrow("ECONNREFUSED");
    expect(existsSync(`/proc/${pid}/cwd`)).toBe(false);
  },
);
