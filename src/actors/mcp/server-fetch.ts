/**
 * Requests to an MCP server over HTTP. The user named the server, so it may be on this machine or its network; nothing
 * is ever sent to an address at which clouds answer with credentials, also not through a name that leads there: the
 * connection itself asks here. Addresses that the server names, such as where to log in, must be of the internet unless
 * the server itself is local. A redirect is followed by the protocol's client only within one origin.
 */
import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { AgentsError } from "../../domain/errors/errors.ts";
import { isForbiddenHost, isLocalHost, isPrivateHost } from "../../domain/network/endpoint-address.ts";

/** Bytes of one answer. */
const ANSWER_BYTES: number = 32 * 1024 * 1024;

export async function serverFetch(serverUrl: string, bytes: number = ANSWER_BYTES): Promise<typeof fetch> {
  const { default: undici } = await import("undici");
  const server = new URL(serverUrl);
  const agents = new Map<boolean, InstanceType<typeof undici.Agent>>();
  const agentFor = (own: boolean): InstanceType<typeof undici.Agent> => {
    const known = agents.get(own) ?? new undici.Agent({ connect: { lookup: guardedLookup(own) }, bodyTimeout: 0 });
    agents.set(own, known);
    return known;
  };
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const own = url.hostname === server.hostname || isLocalHost(server.hostname);
    if (isForbiddenHost(url.hostname) || (!own && isPrivateHost(url.hostname))) throw refusedError(url.host);
    if (!own && url.protocol !== "https:") throw refusedError(url.origin);
    const send = undici.fetch as unknown as (
      url: URL,
      init: Omit<RequestInit, "dispatcher"> & { dispatcher: InstanceType<typeof undici.Agent> },
    ) => Promise<Response>;
    return limited(await send(url, { ...init, dispatcher: agentFor(own) }), bytes);
  };
}

function guardedLookup(own: boolean): LookupFunction {
  return (hostname, options, done) =>
    lookup(hostname, { all: true }, (error, addresses) => {
      const wrong = (addresses ?? []).find(({ address }) => (own ? isForbiddenHost(address) : isPrivateHost(address)));
      const refused = error ?? (wrong === undefined ? null : refusedError(`${hostname} (${wrong.address})`));
      const [first] = addresses ?? [];
      if (refused !== null || options.all === true || first === undefined) done(refused, addresses ?? []);
      else done(null, first.address, first.family);
    });
}

/** The same answer, cut off with an error where it is too long. */
function limited(response: Response, most: number): Response {
  if (response.body === null) return response;
  let bytes = 0;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes > most) controller.error(new AgentsError("tool_failed", `The answer is longer than ${most} bytes.`));
        else controller.enqueue(chunk);
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(counted, { status, statusText, headers: [...headers] });
}

function refusedError(host: string): AgentsError {
  return new AgentsError("tool_failed", `${host} is not an address to which anything may be sent for this MCP server.`);
}
