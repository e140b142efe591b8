/**
 * The public facts of models: how much they read and write, what they cost, what they can. A snapshot comes with
 * the package; `agents models refresh` puts a newer list beside it. Prices change, so `provider.<name>.prices` goes
 * before both; a model that is in neither has no known price, rather than a price of nothing. The format is that of
 * models.dev, of which we read the fields below.
 */
import * as z from "zod";
import type { Price, ProviderType } from "../../domain/settings/provider-settings.ts";
import packaged from "./known-models.json" with { type: "json" };

export interface ModelFacts {
  readonly price?: Price;
  readonly maxOutputTokens?: number;
  readonly contextWindow?: number;
  /** Undefined where nothing is said. */
  readonly tools?: boolean;
  readonly images?: boolean;
  readonly reasoning?: boolean;
}

const Listed = z.object({
  tool_call: z.boolean().optional(),
  reasoning: z.boolean().optional(),
  modalities: z.object({ input: z.array(z.string()).optional() }).optional(),
  cost: z
    .object({
      input: z.number().min(0),
      output: z.number().min(0),
      cache_read: z.number().min(0).optional(),
      cache_write: z.number().min(0).optional(),
    })
    .optional(),
  // Some lists write 0 for a limit that is not known.
  limit: z.object({ context: z.number().min(0).optional(), output: z.number().min(0).optional() }).optional(),
});
const Providers = z.record(z.string(), z.object({ models: z.record(z.string(), z.unknown()) }));

/** A list with where it comes from and when. */
export const FactsFile = z.object({ source: z.string(), date: z.string(), providers: Providers });
export type FactsFile = z.output<typeof FactsFile>;

/** Parses the answer of a source; a list without a single readable model is none. */
export function parseFactsList(
  value: unknown,
  about: { readonly source: string; readonly date: string },
): FactsFile | undefined {
  const providers = Providers.safeParse(value);
  if (!providers.success) return undefined;
  const file = { ...about, providers: providers.data };
  return new FactsCatalog([file]).count === 0 ? undefined : file;
}

/** Names in lists of the providers of each type; an endpoint of one's own is looked for by its name. */
const LISTED_AS: Readonly<Partial<Record<ProviderType, readonly string[]>>> = {
  openai: ["openai"],
  anthropic: ["anthropic"],
  google: ["google"],
  azure: ["azure", "openai"],
  bedrock: ["amazon-bedrock"],
  vertex: ["google-vertex", "google", "anthropic"],
};

/** Facts of a model that the server which serves it gives. */
export interface LearnedFacts {
  /** Tokens that it is served with. */
  readonly window: number;
  /** Undefined when the server does not say. */
  readonly images: boolean | undefined;
}

export class FactsCatalog {
  readonly #providers = new Map<string, Map<string, ModelFacts>>();
  /** Of the newest list. */
  readonly source: string;
  readonly date: string;

  /** Later files go before earlier ones, model by model. */
  constructor(files: readonly FactsFile[]) {
    const newest = files.at(-1);
    this.source = newest?.source ?? "";
    this.date = newest?.date ?? "";
    for (const { providers } of files) {
      for (const [provider, { models }] of Object.entries(providers)) {
        const known = this.#providers.get(provider) ?? new Map<string, ModelFacts>();
        this.#providers.set(provider, known);
        for (const [model, value] of Object.entries(models)) {
          const listed = Listed.safeParse(value);
          if (listed.success) known.set(model, factsOf(listed.data));
        }
      }
    }
  }

  get count(): number {
    return [...this.#providers.values()].reduce((sum, models) => sum + models.size, 0);
  }

  /** In the order of the list. */
  modelsOf(type: ProviderType, provider: string): readonly string[] {
    return [...new Set(namesOf(type, provider).flatMap((name) => [...(this.#providers.get(name)?.keys() ?? [])]))];
  }

  /** By name, also of a dated version of it ("gpt-4o-2024-11-20", "claude-sonnet-4-20250514"). */
  factsOf(type: ProviderType, provider: string, model: string): ModelFacts | undefined {
    const undated = model.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, "");
    for (const name of namesOf(type, provider)) {
      const models = this.#providers.get(name);
      const found = [model, undated, `${undated}-0`].find((one) => models?.has(one) === true);
      if (found !== undefined) return models?.get(found);
    }
    return undefined;
  }
}

function namesOf(type: ProviderType, provider: string): readonly string[] {
  return LISTED_AS[type] ?? (provider === "copilot" ? ["github-copilot"] : [provider]);
}

function factsOf({ tool_call, reasoning, modalities, cost, limit }: z.output<typeof Listed>): ModelFacts {
  const images = modalities?.input?.includes("image");
  return {
    ...(cost === undefined ? {} : { price: priceOf(cost) }),
    ...(limit?.output === undefined || limit.output === 0 ? {} : { maxOutputTokens: Math.floor(limit.output) }),
    ...(limit?.context === undefined || limit.context === 0 ? {} : { contextWindow: Math.floor(limit.context) }),
    ...(tool_call === undefined ? {} : { tools: tool_call }),
    ...(images === undefined ? {} : { images }),
    ...(reasoning === undefined ? {} : { reasoning }),
  };
}

function priceOf({ input, output, cache_read, cache_write }: NonNullable<z.output<typeof Listed>["cost"]>): Price {
  return {
    input,
    output,
    ...(cache_read === undefined ? {} : { cachedInput: cache_read }),
    ...(cache_write === undefined ? {} : { cacheWrite: cache_write }),
  };
}

export const PACKAGED: FactsFile = FactsFile.parse(packaged);
export const PACKAGED_FACTS: FactsCatalog = new FactsCatalog([PACKAGED]);
