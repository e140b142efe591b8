/**
 * Which parts of a prompt a provider keeps for the next call. OpenAI and Google find a common beginning by themselves.
 * Anthropic keeps what is marked, at most at four places: the last tool, the system prompt, and the last two messages.
 * The second to last message is where the call before ended, so its prompt is found again; the last one is where the
 * next call begins.
 */
import type { Provider } from "./providers.ts";
import type { ProviderOptions, SdkMessage } from "./sdk-types.ts";

const MARKED_MESSAGES = 2;
const CACHE_POINT = { type: "default" } as const;
const EPHEMERAL = { type: "ephemeral" } as const;

interface CacheMarks {
  /** To be spread into a tool or the system prompt; empty where nothing is marked. */
  readonly mark: { readonly providerOptions?: ProviderOptions };
  readonly onMessages: (messages: SdkMessage[]) => SdkMessage[];
}

export function cacheMarks(provider: Provider, model: string): CacheMarks {
  const providerOptions = markFor(provider, model);
  if (providerOptions === undefined) return { mark: {}, onMessages: (messages) => messages };
  return {
    mark: { providerOptions },
    onMessages: (messages) =>
      messages.map((message, index) =>
        index < messages.length - MARKED_MESSAGES ? message : { ...message, providerOptions },
      ),
  };
}

function markFor({ type }: Provider, model: string): ProviderOptions | undefined {
  if (type === "anthropic") return { anthropic: { cacheControl: EPHEMERAL } };
  if (type === "vertex" && model.startsWith("claude-")) return { anthropic: { cacheControl: EPHEMERAL } };
  // Only Claude and Nova have caches there; others refuse the mark.
  if (type === "bedrock" && /anthropic\.claude|amazon\.nova/.test(model))
    return { bedrock: { cachePoint: CACHE_POINT } };
  return undefined;
}
