import type { ActorDefinition } from "../../domain/actor/actor.ts";
import { ConfigurationError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { ModelRef } from "../models/model.ts";
import { parseModelRef } from "./providers.ts";

/**
 * The model an actor asks: the one its caller names, else the one the actor names; only when neither names a provider
 * is it looked for in front of the model's name. An actor with an endpoint of its own always uses that endpoint.
 */
export function modelOf(
  actor: ActorDefinition,
  asked: { readonly provider?: string | undefined; readonly model?: string | undefined } = {},
): ModelRef {
  if (actor.type === "tool") {
    throw new ConfigurationError(`The actor "${actor.name}" is a tool actor: it asks no model.`, {
      kept: "Nothing was sent.",
      next: [nextStep("actor.show", { actor: actor.name })],
    });
  }
  const provider = asked.provider?.toLowerCase() ?? actor.provider;
  const model = asked.model ?? actor.model;
  const { baseUrl } = actor.options;
  if (model === undefined) throw missingModelError(actor, "model");
  if (baseUrl !== undefined) return bound(actor, baseUrl, { provider, model });
  if (provider !== undefined) return { provider, model: bare(provider, model, actor.name) };
  if (!model.includes("/")) throw missingModelError(actor, "provider");
  return parseModelRef(model);
}

/**
 * A model's name copied from a list of actors begins with its provider, which knows none of that name. Elsewhere such
 * names are real: "openrouter/auto".
 */
function bare(provider: string, model: string, actor: string): string {
  const prefix = `${provider}/`;
  const known = ["openai", "anthropic", "google"].includes(provider) && actor !== `${prefix}${model}`;
  return known && model.startsWith(prefix) ? model.slice(prefix.length) : model;
}

/** Names at such an endpoint are its own, slashes and all. */
function bound(
  actor: Exclude<ActorDefinition, { type: "tool" }>,
  baseUrl: string,
  { provider, model }: { provider: string | undefined; model: string },
): ModelRef {
  if (provider !== undefined && provider !== actor.provider) {
    throw new ConfigurationError(
      `The actor "${actor.name}" is for ${baseUrl} alone, so ${provider} cannot be asked in its place.`,
      { kept: "Nothing was sent.", next: [nextStep("actor.show", { actor: actor.name })] },
    );
  }
  return { provider: provider ?? "openai-compatible", model, baseUrl };
}

function missingModelError(actor: ActorDefinition, what: "model" | "provider"): ConfigurationError {
  return new ConfigurationError(`The actor "${actor.name}" does not say which ${what} it is for.`, {
    kept: "Nothing was sent.",
    next: [
      nextStep("actor.run", { actor: actor.name, prompt: "<question>", model: "<provider>/<model>" }),
      nextStep("actor.list"),
    ],
    detail: { actor: actor.name, missing: what },
  });
}
