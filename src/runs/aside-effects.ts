/** The effects of a conversation that is held below one call of another: the same ones, under keys of its own. */
import type { About, AgentEffects, Asked, EffectCall } from "../actors/loop/actor-effects.ts";
import type { JsonValue } from "../domain/values/json.ts";

const PREFIX = "aside-";

export function asideKey(key: string): string {
  return `${PREFIX}${key}`;
}

export function isAside(key: string): boolean {
  return key.startsWith(PREFIX);
}

export class AsideEffects implements AgentEffects {
  readonly #effects: AgentEffects;
  readonly #key: string;

  constructor(effects: AgentEffects, key: string) {
    this.#effects = effects;
    this.#key = key;
  }

  get signal(): AbortSignal {
    return this.#effects.signal;
  }

  ask(key: string, call: Asked, about: About): ReturnType<AgentEffects["ask"]> {
    return this.#effects.ask(this.#at(key), call, about);
  }

  callTool(key: string, call: EffectCall): ReturnType<AgentEffects["callTool"]> {
    return this.#effects.callTool(this.#at(key), call);
  }

  once<T extends JsonValue>(key: string, fn: () => Promise<T>): Promise<T> {
    return this.#effects.once(this.#at(key), fn);
  }

  isRecorded(key: string): Promise<boolean> {
    return this.#effects.isRecorded(this.#at(key));
  }

  hear(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  askUser(): Promise<string> {
    return Promise.reject(new Error("a conversation aside cannot ask the user"));
  }

  revise(): Promise<{ readonly refused: string }> {
    return Promise.resolve({ refused: "The strategy cannot be changed here." });
  }

  aside<T>(): Promise<T> {
    return Promise.reject(new Error("a conversation aside cannot have another"));
  }

  showChecklist(): void {}

  #at(key: string): string {
    return `${this.#key}/${key}`;
  }
}
