import type { ActorOptions } from "../../domain/actor/actor.ts";
import type { ModelSettings } from "./model.ts";

/** The options of an actor that go with each of its calls. */
export function modelSettings({ baseUrl: _endpoint, ...settings }: ActorOptions): ModelSettings {
  return settings;
}
