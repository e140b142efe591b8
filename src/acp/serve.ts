/**
 * `agents acp`: the Agent Client Protocol on two streams, until the editor closes its end. Only the protocol is written
 * to the output; everything else goes to the log.
 */
import type { Readable, Writable } from "node:stream";
import { Readable as NodeReadable, Writable as NodeWritable } from "node:stream";
import type * as acp from "@agentclientprotocol/sdk";
import { maskedError, maskedErrorChain } from "../app/base/masked-error.ts";
import type { CleverAgents } from "../app/open.ts";
import { AgentsError } from "../domain/errors/errors.ts";
import type { Environment } from "../domain/values/environment.ts";
import { EditorAgent } from "./editor-agent.ts";
import type { ChosenOptions } from "./session-options.ts";
import type { Spell } from "./editor-words.ts";

export interface ServeParts {
  readonly agents: CleverAgents;
  readonly environment: Environment;
  readonly input: Readable;
  readonly output: Writable;
  readonly log: (text: string) => void;
  readonly options: ChosenOptions;
  readonly spell: Spell;
  /** Ends the connection. */
  readonly signal: AbortSignal;
}

export async function serveEditor(parts: ServeParts): Promise<void> {
  // Large, and needed by no other command.
  const protocol = await import("@agentclientprotocol/sdk");
  const agent = new EditorAgent({ ...parts, protocol });
  const input = NodeReadable.toWeb(parts.input) as ReadableStream<Uint8Array>;
  const output = NodeWritable.toWeb(parts.output) as WritableStream<Uint8Array>;
  const connection = routed(protocol, agent, parts).connect(protocol.ndJsonStream(output, input));
  const stop = (): void => connection.close();
  parts.signal.addEventListener("abort", stop, { once: true });
  if (parts.signal.aborted) stop();
  await connection.closed;
  parts.signal.removeEventListener("abort", stop);
  await agent.close();
}

function routed(protocol: typeof acp, agent: EditorAgent, parts: ServeParts): acp.AgentApp {
  const { agent: methods } = protocol.methods;
  const told = <Params, Result>(answer: (params: Params, context: acp.AgentContext) => Result | Promise<Result>) => {
    return async ({ params, client }: acp.AgentRequestContext<Params>): Promise<Result> => {
      try {
        return await answer(params, client);
      } catch (error) {
        throw requestError(protocol, error, parts);
      }
    };
  };
  return protocol
    .agent({ name: "cleveragents" })
    .onRequest(
      methods.initialize,
      told((params) => agent.initialize(params)),
    )
    .onRequest(
      methods.session.new,
      told((params, context) => agent.newSession(params, context)),
    )
    .onRequest(
      methods.session.load,
      told((params, context) => agent.loadSession(params, context)),
    )
    .onRequest(
      methods.session.resume,
      told((params, context) => agent.resumeSession(params, context)),
    )
    .onRequest(
      methods.session.list,
      told((params) => agent.listSessions(params)),
    )
    .onRequest(
      methods.session.prompt,
      told((params) => agent.prompt(params)),
    )
    .onRequest(
      methods.session.setMode,
      told((params) => agent.setMode(params)),
    )
    .onRequest(
      methods.session.setConfigOption,
      told((params) => agent.setConfigOption(params)),
    )
    .onRequest(
      methods.session.close,
      told((params) => agent.closeSession(params)),
    )
    .onNotification(methods.session.cancel, ({ params }) => agent.cancel(params));
}

/** An error with the three sentences; one that is a defect is logged with its stack. */
function requestError(protocol: typeof acp, error: unknown, { environment, log, spell }: ServeParts): acp.RequestError {
  if (error instanceof protocol.RequestError) return error;
  if (!(error instanceof AgentsError)) {
    log(maskedErrorChain(error, environment));
    return protocol.RequestError.internalError(undefined, "This is a defect; the log of the agent has more.");
  }
  const { message, kept, next, detail, code, meaning } = maskedError(error, environment);
  const data = { code, kept: kept ?? null, next: next.map(spell), detail };
  return new protocol.RequestError(meaning.rpc, [message, kept ?? ""].join(" ").trim(), data);
}
