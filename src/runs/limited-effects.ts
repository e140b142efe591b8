/** The limits of answers for actors that bring their own calls, such as the nodes of a graph. */
import type { ActorEffects } from "../actors/loop/actor-effects.ts";
import type { ModelRef, ModelSettings } from "../actors/models/model.ts";

/** The same effects; answers have a limit, also where the node's author gave none, and the plan's effort. */
export function limited(
  effects: ActorEffects,
  defaults: (model: ModelRef) => ModelSettings,
  wish: ModelSettings,
): ActorEffects {
  return {
    signal: effects.signal,
    ask: (key, call, about) =>
      effects.ask(key, { ...call, settings: { ...defaults(call.model), ...call.settings, ...wish } }, about),
    callTool: (key, call) => effects.callTool(key, call),
    once: (key, fn) => effects.once(key, fn),
  };
}
