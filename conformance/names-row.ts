/**
 * The host names that an agent looks up. In its confinement it reaches none of them; here it is started in namespaces
 * of its own with a name server that knows no name and remembers each that it is asked for.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentName } from "../src/domain/names/agent-names.ts";
import { findProgram } from "../src/platform/programs.ts";
import type { Tried } from "./plan-world.ts";
import type { Verdict } from "./verdict.ts";

const INSIDE = join(import.meta.dirname, "names-inside.ts");
const MOST_MS = 150_000;
/** The first word of the line with the result. */
export const NAMES_MARK = "names-looked-up:";

/** Asked for although everything of the kind is switched off; the agents work without. */
const KNOWN_NAMES: Partial<Readonly<Record<AgentName, RegExp>>> = {
  // It wants to install the package for its own extensions.
  opencode: /^registry\.npmjs\.org$/,
  // The adapter asks npm for the newest version of pi, for 0.8 seconds.
  pi: /^registry\.npmjs\.org$/,
};

const SETUP = `ip link set lo up && mount --bind "$1" /etc/resolv.conf && exec "$2" "$3" "$4"`;

export async function namesLookedUp({ agent, sources }: Tried): Promise<Verdict> {
  const [unshare, ip] = ["unshare", "ip"].map((name) => findProgram(name));
  if (unshare === undefined || ip === undefined) return { skipped: "it takes the programs unshare and ip" };
  const directory = mkdtempSync(join(tmpdir(), "cleveragents-names-"));
  try {
    const resolver = join(directory, "resolv.conf");
    writeFileSync(resolver, "nameserver 127.0.0.1\n");
    // All that it starts ends with the first process of the namespace.
    const own = ["--user", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"];
    const words = [...own, "/bin/sh", "-c", SETUP, "sh", resolver, process.execPath, INSIDE, agent];
    const { status, stdout, stderr } = spawnSync(unshare, words, {
      env: { ...process.env, PATH: sources.environment["PATH"] },
      encoding: "utf8",
      timeout: MOST_MS,
      killSignal: "SIGKILL",
    });
    const line = stdout.split("\n").find((one) => one.startsWith(NAMES_MARK));
    if (line === undefined) {
      const why = stderr.trim().split("\n").at(-1) ?? "";
      return /unshare|mount|RTNETLINK/.test(why)
        ? { skipped: `no namespace: ${why}` }
        : { failed: `${status}: ${why}` };
    }
    return verdictOn(agent, line.slice(NAMES_MARK.length).trim().split(" ").filter(Boolean));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function verdictOn(agent: AgentName, names: readonly string[]): Verdict {
  const fresh = names.filter((name) => KNOWN_NAMES[agent]?.test(name) !== true);
  if (fresh.length > 0) return { failed: `it looks up ${fresh.join(", ")}` };
  return { passed: names.length === 0 ? "none" : `${names.join(", ")}; it works without` };
}
