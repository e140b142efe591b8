import type { JsonObject } from "../../domain/values/json.ts";
import { TryUsage, usageClaim, type UsageClaim } from "./believed-usage.ts";
import { callStoppedError } from "../models/model-error.ts";
import type { ModelCall, ModelUsage } from "../models/model.ts";
import { maxOutputTokens, outputLimit, type CountModelTokens } from "./prices.ts";
import type { Provider } from "./providers.ts";
import { cacheMarks } from "./cache-marks.ts";
import { Received, type Answered } from "./answer-stream.ts";
import { asModelError } from "./sdk-errors.ts";
import { sdkMessages } from "./sdk-messages.ts";
import { ReasoningDetails } from "./openrouter.ts";
import { sdkModel } from "./sdk-models.ts";
import { providerOptions, reasoningOptions } from "./provider-options.ts";
import type { StreamOptions } from "./sdk-types.ts";
import { ToolNames } from "./tool-name-encoding.ts";
import { prunedDescription, prunedSchema } from "../models/tool-schema.ts";

export interface SdkCallParts {
  readonly provider: Provider;
  readonly count: CountModelTokens;
  /** Values that must not show in an error. */
  readonly known: readonly string[];
}

/**
 * One try of a call through the library, always as a stream: only so can one that fell silent be told from one that
 * thinks, and a flood be stopped. A stream that ends without saying why it ended was cut off, and counts as a broken
 * connection. A stream that continues past the requested limit is ended here, and the text so far is the answer.
 */
export async function sdkCall(call: ModelCall, parts: SdkCallParts): Promise<Answered> {
  const { model, signal } = call;
  const { provider, count, known } = parts;
  const used = new TryUsage(call, provider, count);
  const received = new Received(model, outputLimit(provider, call), count);
  const usageOf = (claim?: UsageClaim): ModelUsage => used.of(received.written, claim);
  const left = new AbortController();
  try {
    await receive({ ...call, signal: AbortSignal.any([signal, left.signal]) }, provider, received);
    return received.answer(usageOf);
  } catch (error) {
    if (signal.aborted) throw callStoppedError(model).billed(usageOf());
    const failure = asModelError(error, model, known);
    if (failure.usage !== undefined) throw failure;
    // We know what came until we ended it. Of what broke off at the other end we do not know how much was made.
    if (failure.endedByUs) throw failure.billed(usageOf());
    throw received.begun ? failure.inTheMiddle() : failure;
  } finally {
    // The library reads on by itself: without this the endpoint keeps sending, and the process does not end.
    left.abort();
  }
}

async function receive(call: ModelCall, provider: Provider, received: Received): Promise<void> {
  const { streamText } = await import("ai");
  // The library would print its advice on standard error.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const names = new ToolNames();
  const stream = streamText({
    ...(await options(call, provider, names)),
    abortSignal: call.signal,
    // Only there it has more to say than the library reads.
    ...(provider.name === "openrouter" ? { includeRawChunks: true } : {}),
    // Retries are ours: they are counted, recorded and can be stopped.
    maxRetries: 0,
    // Without it the library prints the error, prompt and all.
    onError: () => {},
  });
  const details = new ReasoningDetails();
  for await (const part of stream.fullStream) {
    if (part.type === "raw") details.add(part.rawValue);
    else if (part.type === "text-start" || part.type === "text-end") {
      received.addData("text", part.id, dataOf(part));
    } else if (part.type === "text-delta") {
      received.addText(part.id, part.text);
      received.addData("text", part.id, dataOf(part));
      if (part.text !== "") call.onText?.(part.text);
    } else if (part.type === "reasoning-start" || part.type === "reasoning-end") {
      received.addData("reasoning", part.id, dataOf(part));
    } else if (part.type === "reasoning-delta") {
      received.addThought(part.id, part.text);
      if (part.text !== "") call.onThought?.(part.text);
      received.addData("reasoning", part.id, dataOf(part));
    } else if (part.type === "tool-input-delta") {
      received.addFragment(part.id, part.delta);
    } else if (part.type === "tool-call") {
      received.addToolCall(part.toolCallId, names.decode(part.toolName), part.input, dataOf(part));
    } else if (part.type === "finish-step") {
      if (details.all.length > 0) received.addMessageData({ openaiCompatible: { reasoning_details: details.all } });
      received.end(part.finishReason, part.rawFinishReason, usageClaim(part.usage));
    } else if (part.type === "error") {
      throw part.error;
    } else if (part.type === "abort") {
      throw call.signal.reason;
    }
    if (received.tooLong) {
      received.cut();
      return;
    }
  }
}

/** JSON by the library's own promise; only what JSON keeps is stored. */
function dataOf({ providerMetadata }: { providerMetadata?: object | undefined }): JsonObject | undefined {
  if (providerMetadata === undefined) return undefined;
  return JSON.parse(JSON.stringify(providerMetadata)) as JsonObject;
}

/** The bytes of all images of a call, by their hashes. */
async function picturesOf({ messages, imageBytes }: ModelCall): Promise<ReadonlyMap<string, Uint8Array>> {
  const pictures = new Map<string, Uint8Array>();
  for (const message of messages) {
    if (message.role !== "user") continue;
    for (const { sha256 } of message.images ?? [])
      if (!pictures.has(sha256) && imageBytes !== undefined) pictures.set(sha256, await imageBytes(sha256));
  }
  return pictures;
}

async function options(call: ModelCall, provider: Provider, names: ToolNames): Promise<StreamOptions> {
  const { Output, jsonSchema, tool } = await import("ai");
  const { temperature, topP } = call.settings;
  const limit = maxOutputTokens(provider, call);
  const marks = cacheMarks(provider, call.model.model);
  const thinking = reasoningOptions(provider, call.model.model, call.settings.reasoning, limit);
  const tools = call.tools.map((one, index) => [
    names.encode(one.name),
    tool({
      description: prunedDescription(one.description),
      inputSchema: jsonSchema(prunedSchema(one.parameters)),
      ...(index === call.tools.length - 1 ? marks.mark : {}),
    }),
  ]);
  const schema = call.responseSchema;
  return {
    model: await sdkModel(provider, call.model),
    ...(call.system === "" ? {} : { instructions: { role: "system", content: call.system, ...marks.mark } }),
    messages: marks.onMessages(sdkMessages(call.messages, names, call.model, await picturesOf(call))),
    ...(tools.length === 0 ? {} : { tools: Object.fromEntries(tools) }),
    // The provider is told the schema; the text stays text, which the caller reads.
    ...(schema === undefined
      ? {}
      : {
          output: { ...Output.text(), responseFormat: Promise.resolve({ type: "json", schema: prunedSchema(schema) }) },
        }),
    ...(limit === undefined ? {} : { maxOutputTokens: limit - thinking.addedByLibrary }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(thinking.reasoning === undefined ? {} : { reasoning: thinking.reasoning }),
    providerOptions: providerOptions(provider, call, thinking.options),
  };
}
