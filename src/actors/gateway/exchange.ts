/**
 * One billed request: prepared, let through, sent, and passed on byte by byte. `after` of the port hears of every end:
 * an answer that says it is complete counts as used, a refusal of the provider as free; an answer that broke off, or
 * whose client went away, may be billed in full.
 */
import type { ServerResponse } from "node:http";
import { once } from "node:events";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/values/json.ts";
import { ModelError } from "../models/model-error.ts";
import type { ModelRef } from "../models/model.ts";
import { believedUsage } from "../providers/believed-usage.ts";
import { boundOfTokens, planOutputTokens, type CountModelTokens } from "../providers/prices.ts";
import type { Provider } from "../providers/providers.ts";
import { asModelError } from "../providers/sdk-errors.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import { isStreamed, readAnswer } from "./answer-reading.ts";
import type { GatewayRoute } from "./dialects.ts";
import type { GatewayAnswer, GatewayPort, GatewayRequest, GivenAnswer } from "./gateway-port.ts";
import { HeldAnswer } from "./held-answer.ts";
import { withoutProviderTools } from "./provider-tools.ts";
import { RefusedRequestError } from "./refusals.ts";
import { limitedRequest } from "./request-limits.ts";
import { maskedRequest } from "./request-masking.ts";
import { refuseStored } from "./request-pieces.ts";
import { requestTokens, type RequestTokens } from "./request-tokens.ts";
import { textAt } from "./request-values.ts";
import { sendUpstream, upstreamOf, type Upstream, type UpstreamRequest } from "./upstream.ts";

export interface ExchangeParts {
  readonly providers: readonly Provider[];
  readonly count: CountModelTokens;
  /** Values that no model may be shown. */
  readonly known: readonly string[];
  readonly port: GatewayPort;
  /** Every request goes to this model. */
  readonly model: ModelRef | undefined;
  readonly maxOutputTokens: number | undefined;
  /** Tools that run at the provider stay. */
  readonly network: boolean;
  readonly nextId: () => string;
}

export interface Incoming {
  readonly route: GatewayRoute;
  readonly query: URLSearchParams;
  readonly headers: UpstreamRequest["headers"];
  readonly text: string;
  readonly response: ServerResponse;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
}

interface Prepared {
  readonly upstream: Upstream;
  readonly request: GatewayRequest;
  readonly tokens: RequestTokens;
}

/** A request that costs nothing: the body is masked, and that is all. */
export async function passFreely(incoming: Incoming, parts: ExchangeParts): Promise<void> {
  const { route, text, response } = incoming;
  const body = route.kind === "list" ? undefined : parsedBody(text);
  const upstream = upstreamOf(route.dialect, route.model ?? textAt(body ?? {}, "model") ?? "", parts);
  const shown = body === undefined ? undefined : maskedRequest(route.dialect, withModel(body, upstream), parts.known);
  const sent = shown === undefined ? undefined : JSON.stringify(shown.body);
  const answer = await sendUpstream(upstream, { ...incoming, body: sent }).catch((error: unknown) => {
    throw unreachableError(error, upstream, parts);
  });
  response.writeHead(answer.status, passedHeaders(answer));
  const { failure } = await passedBody(answer, incoming, response);
  if (failure === undefined) response.end();
  else response.destroy();
}

export async function passBilled(incoming: Incoming, parts: ExchangeParts): Promise<void> {
  const prepared = prepare(incoming, parts);
  const verdict = await parts.port.before(prepared.request);
  if (verdict.pass === false) throw new RefusedRequestError(402, verdict.reason.message);
  if (verdict.pass === "given") return give(verdict.answer, incoming.response);
  const begun = performance.now();
  const held = verdict.hold === undefined ? undefined : new HeldAnswer(incoming.response, verdict.hold);
  const { outcome, end } = await exchanged(incoming, prepared, { ...parts, held });
  const refused = await parts.port.after(prepared.request, { ...outcome, durationMs: performance.now() - begun });
  if (held !== undefined && refused instanceof AgentsError) throw new RefusedRequestError(402, refused.message);
  end();
}

function give({ status, contentType, body }: GivenAnswer, response: ServerResponse): void {
  response.writeHead(status, { "content-type": contentType });
  response.end(body);
}

type Outcome = OmitOfEach<GatewayAnswer, "durationMs">;
type OmitOfEach<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** How it ended, and how the client is told so. */
interface Exchanged {
  readonly outcome: Outcome;
  readonly end: () => void;
}

async function exchanged(
  incoming: Incoming,
  prepared: Prepared,
  parts: ExchangeParts & { readonly held: HeldAnswer | undefined },
): Promise<Exchanged> {
  const { response, signal } = incoming;
  const { upstream, request, tokens } = prepared;
  const failed = (body: string, error: string, mayBeBilled: boolean): Outcome => ({
    answered: false,
    body,
    error,
    mayBeBilled,
    unwanted: signal.aborted,
  });
  if (signal.aborted)
    return { outcome: failed("", "The client went away before anything was sent.", false), end: () => undefined };
  let answer: Response;
  try {
    answer = await sendUpstream(upstream, { ...incoming, body: JSON.stringify(request.shown) });
  } catch (error) {
    const reason = unreachableError(error, upstream, parts);
    const refuse = (): never => {
      throw reason;
    };
    return { outcome: failed("", reason.message, reason.mayBeBilled), end: refuse };
  }
  const receiver = parts.held ?? response;
  receiver.writeHead(answer.status, passedHeaders(answer));
  const { body, failure } = await passedBody(answer, incoming, receiver);
  const end = (): void => void (failure === undefined ? receiver.end() : receiver.destroy());
  if (!answer.ok) return { outcome: failed(body, `The provider answers ${answer.status}.`, false), end };
  const { status } = answer;
  const contentType = answer.headers.get("content-type") ?? "";
  const streamed = isStreamed(contentType);
  const { written, claim, ended } = readAnswer(request.dialect, body, streamed);
  const { input, sent } = tokens;
  if (!ended) {
    const reason = failure ?? "The answer ended before it was complete.";
    // Nothing of it is recorded, so nothing may be done with it.
    return { outcome: failed(body, reason, true), end: parts.held === undefined ? end : () => receiver.destroy() };
  }
  const output = written === "" ? 0 : parts.count(written, request.model.model);
  return {
    outcome: {
      answered: true,
      status,
      contentType,
      body,
      usage: believedUsage({ input, sent, output, most: request.bound }, claim),
    },
    end,
  };
}

/** The request as it goes out, and the most it can cost. */
function prepare({ route, text }: Incoming, parts: ExchangeParts): Prepared {
  const { dialect } = route;
  const body = parsedBody(text);
  const named = route.model ?? textAt(body, "model") ?? "";
  // OpenRouter searches the web for a model of this name.
  const upstream = upstreamOf(dialect, parts.network ? named : named.replace(/:online$/, ""), parts);
  const { provider, model } = upstream;
  refuseStored(body);
  const own = parts.network ? body : withoutProviderTools(dialect, body);
  const asked = withModel(own, upstream);
  const possible = provider.facts(model.model)?.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  const most = Math.min(parts.maxOutputTokens ?? planOutputTokens(provider, model.model), possible);
  const limited = limitedRequest(dialect, asked, { most, type: provider.type });
  const { body: shown, masked } = maskedRequest(dialect, limited.body, parts.known);
  const tokens = requestTokens(dialect, shown, model.model, parts.count);
  const bound = boundOfTokens(provider, model.model, { ...tokens, outputTokens: limited.outputTokens });
  const streams = shown["stream"] === true || route.upstream.endsWith(":streamGenerateContent");
  return { upstream, tokens, request: { id: parts.nextId(), dialect, model, shown, streams, masked, bound } };
}

/** Gemini has it in the path. */
function withModel(body: JsonObject, { model }: Upstream): JsonObject {
  return Object.hasOwn(body, "model") ? { ...body, model: model.model } : body;
}

function parsedBody(text: string): JsonObject {
  let value: JsonValue | undefined;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    value = undefined;
  }
  if (isJsonObject(value)) return value;
  throw new RefusedRequestError(400, "The body of the request is not a JSON object.");
}

/** Not an answer: the endpoint could not be reached, fell silent, or leads elsewhere. */
function unreachableError(
  error: unknown,
  { model }: Upstream,
  { known }: ExchangeParts,
): RefusedRequestError & { readonly mayBeBilled: boolean } {
  const { kind, message, mayBeBilled } = asModelError(error, model, known);
  return Object.assign(new RefusedRequestError(kind === "timeout" ? 504 : 502, message), { mayBeBilled });
}

/** Of one connection only, or true only of bytes that were packed differently; cookies are for browsers. */
const OF_THE_CONNECTION =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-encoding|content-length|set-cookie)$/;

function passedHeaders({ headers }: Response): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !OF_THE_CONNECTION.test(name)));
}

/** Every byte as it comes. `failure` when the provider broke off, or the client went away. */
async function passedBody(
  answer: Response,
  { response, signal }: Incoming,
  receiver: Pick<HeldAnswer | ServerResponse, "write">,
): Promise<{ readonly body: string; readonly failure: string | undefined }> {
  const came: Uint8Array[] = [];
  const body = (): string => Buffer.concat(came).toString("utf8");
  try {
    for await (const bytes of answer.body ?? []) {
      came.push(bytes);
      if (!receiver.write(bytes)) await once(response, "drain", { signal });
    }
    return { body: body(), failure: undefined };
  } catch (error) {
    if (signal.aborted) return { body: body(), failure: "The client went away in the middle of the answer." };
    const failure = error instanceof ModelError ? error.message : "The answer broke off in the middle.";
    return { body: body(), failure };
  }
}
