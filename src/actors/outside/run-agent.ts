/**
 * An agent that runs once for each prompt, as a command of its own: for programs that can be told where their model is
 * and do not speak the Agent Client Protocol. Its output is its answer. It asks for no permission, so guards act at the
 * gateway.
 */
import { basename } from "node:path";
import type { Readable } from "node:stream";
import type { AcpActorDefinition } from "../../domain/actor/acp-actor.ts";
import type { Environment } from "../../domain/values/environment.ts";
import type { AgentProgram, AgentSurroundings, OutsideAgent, TurnEnd } from "./agent-port.ts";
import { ownProgram } from "./agent-program.ts";

/** Characters of its output that are kept; the end says most. */
const KEPT = 256 * 1024;
const SHOWN = 2_000;

/** `environment` is the user's; the program is looked for on its PATH. */
export function openRunAgent(
  surroundings: AgentSurroundings,
  program: Extract<AcpActorDefinition["program"], { readonly agent: undefined }>,
  environment: Environment,
): OutsideAgent {
  const { actor, gateway, home } = surroundings;
  return {
    facts: { name: basename(program.command[0] ?? ""), version: undefined, protocol: "run" },
    asks: false,
    turn: (prompt, signal) => {
      const started = ownProgram(actor, program, { ...gateway, home, prompt }, environment);
      return turn(started, signal, surroundings);
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

async function turn(
  program: AgentProgram,
  signal: AbortSignal,
  { start, listener }: AgentSurroundings,
): Promise<TurnEnd> {
  const pipes = await start(program);
  const kill = (): void => pipes.kill();
  signal.addEventListener("abort", kill, { once: true });
  if (signal.aborted) kill();
  pipes.input.end();
  try {
    const [text, errors] = await Promise.all([
      textOf(pipes.output, (piece) => listener.text(piece)),
      textOf(pipes.errors, () => undefined),
    ]);
    const { code } = await pipes.ended;
    if (signal.aborted) return { reason: "cancelled", text };
    if (code === 0) return { reason: "done", text: text.trim() };
    const said = (errors.trim() === "" ? text : errors).trim().slice(-SHOWN);
    return { reason: "failed", text, error: `it ended with exit code ${code}${said === "" ? "" : `: ${said}`}` };
  } finally {
    signal.removeEventListener("abort", kill);
  }
}

async function textOf(stream: Readable, heard: (piece: string) => void): Promise<string> {
  let text = "";
  stream.setEncoding("utf8");
  for await (const piece of stream as AsyncIterable<string>) {
    text = `${text}${piece}`.slice(-KEPT);
    heard(piece);
  }
  return text;
}
