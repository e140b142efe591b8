/** The client of one request: the things it can do, in the words of either version of the protocol. */
import type { ServerContext } from "@modelcontextprotocol/server";
import type * as sdk from "@modelcontextprotocol/server";
import type { RunEvent } from "../domain/run-event.ts";
import type { SeenApproval, FormClient } from "./approval.ts";
import { progressLine } from "./progress-words.ts";

export type McpProtocol = typeof sdk;
export type Codec = sdk.RequestStateCodec<SeenApproval>;

/** The abilities that a client says it has, as far as they concern us. */
export interface ClientAbilities {
  readonly elicitation?: unknown;
  readonly roots?: unknown;
}

export interface ClientParts {
  readonly protocol: McpProtocol;
  readonly codec: Codec;
  readonly context: ServerContext;
  /** Those of the connection, for a client that does not say them with each request. */
  readonly capabilities: ClientAbilities | undefined;
}

export class RequestClient implements FormClient {
  readonly #parts: ClientParts;
  readonly #capabilities: ClientAbilities;
  #progress = 0;

  constructor(parts: ClientParts) {
    this.#parts = parts;
    const { protocol, context } = parts;
    const envelope: Readonly<Record<string, unknown>> = context.mcpReq.envelope ?? {};
    const own = envelope[protocol.CLIENT_CAPABILITIES_META_KEY];
    this.#capabilities = protocol.isSpecType.ClientCapabilities(own) ? own : (parts.capabilities ?? {});
  }

  get signal(): AbortSignal {
    return this.#parts.context.mcpReq.signal;
  }

  /** A client that names no way of asking has forms. */
  get canAsk(): boolean {
    const { elicitation } = this.#capabilities;
    if (typeof elicitation !== "object" || elicitation === null) return false;
    return "form" in elicitation || !("url" in elicitation);
  }

  get hasRoots(): boolean {
    return this.#capabilities.roots !== undefined;
  }

  get approval(): SeenApproval | undefined {
    return this.#parts.context.mcpReq.requestState<SeenApproval>();
  }

  readonly answer = (key: string): { readonly isYes: boolean } | undefined => {
    const { protocol, context } = this.#parts;
    const answer = protocol.inputResponse(context.mcpReq.inputResponses, key);
    if (answer.kind !== "elicit") return undefined;
    return { isYes: answer.action === "accept" && answer.content?.[key] === true };
  };

  readonly form = async (key: string, message: string, approval: SeenApproval): Promise<sdk.InputRequiredResult> => {
    const { protocol, codec, context } = this.#parts;
    const field = { type: "boolean" as const, title: "Yes, do it" };
    const requestedSchema = { type: "object" as const, properties: { [key]: field }, required: [key] };
    return protocol.inputRequired({
      inputRequests: { [key]: protocol.inputRequired.elicit({ message, requestedSchema }) },
      requestState: await codec.mint(approval, context),
    });
  };

  /** The roots that came with the request; undefined when none did. */
  get roots(): readonly { readonly uri: string }[] | undefined {
    const { protocol, context } = this.#parts;
    const answer = protocol.inputResponse(context.mcpReq.inputResponses, ROOTS);
    return answer.kind === "roots" ? answer.roots : undefined;
  }

  askForRoots(): sdk.InputRequiredResult {
    const { inputRequired } = this.#parts.protocol;
    return inputRequired({ inputRequests: { [ROOTS]: inputRequired.listRoots() } });
  }

  /** For a client that wants to hear of progress; each line also keeps it from giving up. */
  readonly tell = (event: RunEvent): void => {
    const { _meta, notify } = this.#parts.context.mcpReq;
    const message = progressLine(event);
    if (_meta?.progressToken === undefined || message === undefined) return;
    const params = { progressToken: _meta.progressToken, progress: ++this.#progress, message };
    // The client may be gone.
    void notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
}

const ROOTS = "roots";
