/**
 * Which parts of a prompt a provider keeps for the next call. OpenAI and Google find a common beginning by themselves. Anthropic keeps
 * what is marked, at most at four places: the last tool, the system prompt, and the last two messages. The second to last message is
 * where the call before ended, so its prompt is found again; the last one is where the next call begins.
 */
import type { Provider } from "./providers.ts";
import type { ProviderOptions, SdkMessage } from "./sdk-types.ts";

const MARKED_MESSAGES = 2;
const EPHEMERAL = { type: "ephemeral" } as const;

interface CacheMarks {
  /** To be spread into a tool or the system prompt; empty where nothing is marked. */
  readonly mark: { readonly providerOptions?: ProviderOptions };
  readonly onMessages: (messages: SdkMessage[]) => SdkMessage[];
}

export function cacheMarks(provider: Provider): CacheMarks {
  const providerOptions = markFor(provider);
  if (providerOptions === undefined) return { mark: {}, onMessages: (messages) => messages };
  return {
    mark: { providerOptions },
    onMessages: (messages) =>
      messages.map((message, index) =>
        index < messages.length - MARKED_MESSAGES ? message : { ...message, providerOptions },
      ),
  };
}

function markFor({ type }: Provider): ProviderOptions | undefined {
  return type === "anthropic" ? { anthropic: { cacheControl: EPHEMERAL } } : undefined;
}
