/** The few types of the library that our code names. */
import type { streamText } from "ai";

export type StreamOptions = Parameters<typeof streamText>[0];
export type LanguageModel = StreamOptions["model"];
export type ProviderOptions = NonNullable<StreamOptions["providerOptions"]>;
export type SdkMessage = NonNullable<StreamOptions["messages"]>[number];
