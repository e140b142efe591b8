import type { AcpActorDefinition } from "../../domain/actor/acp-actor.ts";
import { AgentsError } from "../../domain/errors/errors.ts";

/** Lines of a program's own errors that a person is shown. */
const SHOWN_LINES = 6;
const LONGEST_LINE = 300;

/** An outside agent failed; `errors` is the end of its own error output, masked. */
export function agentFailedError(actor: AcpActorDefinition, reason: string, errors: string): AgentsError {
  const lines = errors.split("\n").filter((line) => line.trim() !== "");
  const last = lines.slice(-SHOWN_LINES).map((line) => line.slice(0, LONGEST_LINE));
  const said = last.length === 0 ? "" : `\n  ${last.join("\n  ")}`;
  return new AgentsError("agent_failed", `The agent of ${actor.name} failed: ${reason}.${said}`, {
    kept: "Everything that was recorded is kept.",
    detail: { actor: actor.name, errors: last },
  });
}
