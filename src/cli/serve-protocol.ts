/** `agents acp` and `agents mcp serve`: the streams of the process, handed to another surface. */
import type { CleverAgents } from "../app/open.ts";
import { interruptible } from "./terminal/interrupt.ts";
import type { Io } from "./terminal/io.ts";
import type { ParsedCall } from "./words/program.ts";
import { spellNext } from "./words/spell-next.ts";

export async function serveCommand(agents: CleverAgents, { command, words }: ParsedCall, io: Io): Promise<void> {
  const log = (text: string): void => void io.stderr.write(`${text}\n`);
  const { signal, stop } = interruptible(io, log);
  const option = (name: string): string | undefined => {
    const value = words.options[name];
    return typeof value === "string" ? value : undefined;
  };
  const [profile, actor, budget] = [option("automationProfile"), option("actor"), option("budget")];
  const parts = { agents, environment: io.env, log, spell: spellNext, signal };
  try {
    await io.serve((doors, streams) => {
      if (command.name === "acp") return doors.editor({ ...parts, ...streams, options: { profile, actor, budget } });
      const options = { automationProfile: profile, actor, budget };
      const readOnly = words.options["readOnly"] === true;
      return doors.plans({ ...parts, ...streams, options, readOnly, directory: io.cwd });
    });
  } finally {
    stop();
  }
}
