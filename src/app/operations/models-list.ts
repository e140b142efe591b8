/** The models that can be asked, and what is known of them. Nothing is fetched unless the caller asks the endpoints. */
import * as z from "zod";
import type { FactsCatalog } from "../../actors/models/model-facts.ts";
import { listedByEndpoint } from "../../actors/providers/endpoint-models.ts";
import { isUsable, knownProviders, type Provider } from "../../actors/providers/providers.ts";
import { defineOperation } from "../base/operation.ts";

const Listed = z.strictObject({
  model: z.string(),
  provider: z.string(),
  contextWindow: z.int().nullable(),
  maxOutputTokens: z.int().nullable(),
  /** Dollars for a million tokens; null where the price is not known. */
  price: z
    .strictObject({
      input: z.number(),
      output: z.number(),
      cacheRead: z.number().nullable(),
      cacheWrite: z.number().nullable(),
    })
    .nullable(),
  tools: z.boolean().nullable(),
  images: z.boolean().nullable(),
  reasoning: z.boolean().nullable(),
  usable: z.boolean(),
});

export const operation = defineOperation({
  input: z.strictObject({
    provider: z.string().optional(),
    all: z.boolean().default(false),
    ask: z.boolean().default(false),
  }),
  output: z.strictObject({
    models: z.array(Listed),
    providers: z.array(
      z.strictObject({
        provider: z.string(),
        type: z.string(),
        usable: z.boolean(),
        keyVariables: z.array(z.string()).readonly(),
        /** Why its endpoint did not list its models; null when it did or was not asked. */
        problem: z.string().nullable(),
      }),
    ),
    facts: z.strictObject({ source: z.string(), date: z.string() }),
  }),
  run: async (app, { provider: wanted, all, ask }, call) => {
    const facts = await app.modelFacts();
    const { global } = await app.config();
    const known = knownProviders(global, app.environment, facts).filter(({ type }) => type !== "scripted");
    const shown = known.filter(
      (one) =>
        (wanted === undefined || one.name === wanted.toLowerCase()) && (all || wanted !== undefined || isUsable(one)),
    );
    const lists = await Promise.all(
      shown.map(async (one) => ({
        one,
        asked: ask && isUsable(one) ? await listedByEndpoint(one, call.signal) : undefined,
      })),
    );
    return {
      models: lists.flatMap(({ one, asked }) =>
        namesOf(one, facts, asked?.models ?? []).map((name) => listed(one, name, asked?.windows)),
      ),
      providers: lists.map(({ one, asked }) => ({
        provider: one.name,
        type: one.type,
        usable: isUsable(one),
        keyVariables: one.keyVariables,
        problem: asked?.problem ?? null,
      })),
      facts: { source: facts.source, date: facts.date },
    };
  },
});

function namesOf(provider: Provider, facts: FactsCatalog, asked: readonly string[]): readonly string[] {
  const { name, type, models } = provider;
  if (asked.length > 0) return asked;
  return [
    ...new Set([...models, ...(models.length > 0 && type === "openai-compatible" ? [] : facts.modelsOf(type, name))]),
  ];
}

function listed(
  provider: Provider,
  model: string,
  windows: ReadonlyMap<string, number> | undefined,
): z.output<typeof Listed> {
  const facts = provider.facts(model);
  const price = provider.prices.get(model) ?? provider.prices.get("*") ?? facts?.price;
  return {
    model: `${provider.name}/${model}`,
    provider: provider.name,
    contextWindow: windows?.get(model) ?? facts?.contextWindow ?? null,
    maxOutputTokens: facts?.maxOutputTokens ?? null,
    price:
      price === undefined
        ? null
        : {
            input: price.input,
            output: price.output,
            cacheRead: price.cachedInput ?? null,
            cacheWrite: price.cacheWrite ?? null,
          },
    tools: facts?.tools ?? null,
    images: facts?.images ?? null,
    reasoning: facts?.reasoning ?? null,
    usable: isUsable(provider),
  };
}
