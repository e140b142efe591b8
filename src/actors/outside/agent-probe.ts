/**
 * Asks an installed agent who it is: its program is started for a moment with a home of its own and no way to a model,
 * and says its version and that of the protocol.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { knownAgentActor } from "../../domain/actor/known-agents.ts";
import { searchPath } from "../../platform/programs.ts";
import { startPipedProgram } from "../../platform/piped-program.ts";
import type { Environment } from "../../domain/values/environment.ts";
import { introducedAgent } from "./acp-agent.ts";
import type { AgentListener, OutsideAgent } from "./agent-port.ts";
import { knownProgram, type InstalledAgent } from "./installed-agents.ts";

/** Nothing listens there. */
const NO_GATEWAY = { url: "http://127.0.0.1:9", token: "none", model: "none" };
const NO_LISTENER: AgentListener = {
  text: () => undefined,
  thought: () => undefined,
  tool: () => undefined,
  plan: () => undefined,
  permission: async () => "cancel",
};

export async function probedAgent(
  installed: InstalledAgent,
  environment: Environment,
  limits: { readonly startMs: number; readonly signal: AbortSignal },
): Promise<OutsideAgent["facts"]> {
  const home = mkdtempSync(join(tmpdir(), "cleveragents-agent-"));
  try {
    const actor = knownAgentActor(installed.agent);
    const values = { ...NO_GATEWAY, home };
    const { program } = knownProgram(installed, actor, { asks: true, values, environment });
    for (const [path, text] of Object.entries(program.files)) {
      mkdirSync(dirname(join(home, path)), { recursive: true });
      writeFileSync(join(home, path), text);
    }
    const basic = { PATH: searchPath(environment["PATH"]), HOME: home, LANG: "C.UTF-8", TERM: "dumb", TMPDIR: home };
    const pipes = startPipedProgram(program.command, {
      environment: { ...basic, ...program.environment },
      directory: home,
    });
    const { startMs, signal } = limits;
    return await introducedAgent(
      {
        actor,
        gateway: NO_GATEWAY,
        start: async () => pipes,
        home,
        cwd: home,
        directories: [],
        asks: true,
        toolServers: [],
        listener: NO_LISTENER,
        signal,
      },
      { pipes, mode: undefined, asks: false, limits: { startMs, cancelMs: startMs } },
    );
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}
