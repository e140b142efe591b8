/**
 * The version of the protocol that is spoken with an agent. Version 1 is stable and asked for first; an agent that does
 * not speak it is asked again for version 2, a draft. An actor may say that 2 is asked for first: an agent that speaks
 * only 1 then answers 1, and that is used.
 */
import * as z from "zod";
import type { ClientContext } from "@agentclientprotocol/sdk";

export type ProtocolVersion = 1 | 2;

const CLIENT = { name: "cleveragents", version: "0" };
const OFFERED_IN_1 = {
  clientInfo: CLIENT,
  clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
};
/** An agent of version 1 reads the names of version 1 beside those of 2. */
const OFFERED_IN_2 = { info: CLIENT, capabilities: {}, ...OFFERED_IN_1 };

const Info = z.object({ name: z.string(), version: z.string().optional() }).optional().catch(undefined);
const Said = z.object({
  protocolVersion: z.number().int(),
  agentInfo: Info,
  info: Info,
  agentCapabilities: z.unknown().optional(),
  capabilities: z.unknown().optional(),
});

export interface Introduction {
  readonly version: ProtocolVersion;
  readonly info: { readonly name: string; readonly version?: string | undefined } | undefined;
  /** As the version has them. */
  readonly capabilities: unknown;
}

/** `answered` rejects when the program is gone, late, or answers with an error. */
export async function introduction(
  agent: ClientContext,
  preferred: ProtocolVersion,
  answered: <T>(request: Promise<T>) => Promise<T>,
): Promise<Introduction> {
  const ask = async (version: ProtocolVersion): Promise<z.output<typeof Said>> => {
    const params = { protocolVersion: version, ...(version === 1 ? OFFERED_IN_1 : OFFERED_IN_2) };
    return Said.parse(await answered(agent.request<unknown, object>("initialize", params)));
  };
  if (preferred === 2) return introduced(await ask(2));
  let refusal: unknown;
  const said = await ask(1).catch((error: unknown) => {
    if (!isRefusal(error)) throw error;
    refusal = error;
    return undefined;
  });
  if (said !== undefined && said.protocolVersion !== 2) return introduced(said);
  return introduced(
    await ask(2).catch((error: unknown) => {
      throw refusal ?? error;
    }),
  );
}

function introduced({ protocolVersion, ...said }: z.output<typeof Said>): Introduction {
  if (protocolVersion === 1) return { version: 1, info: said.agentInfo, capabilities: said.agentCapabilities };
  if (protocolVersion === 2) return { version: 2, info: said.info, capabilities: said.capabilities };
  throw new Error(`it speaks version ${protocolVersion} of the protocol, not 1 or 2`);
}

/** An answer of the agent with an error of the protocol, in contrast to none at all. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "number";
}
