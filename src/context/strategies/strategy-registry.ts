/**
 * The registry of strategies. The built-in ones come first, in their order, then the custom ones; those that are not
 * enabled are known but not selected. A custom strategy is an ES module whose default export does the work, in a worker
 * thread like all others:
 *
 * ```js
 * // Optional: what the registry should know of it.
 * export const description = "finds what our naming rules say";
 * export const quality = 0.6; // from 0 to 1
 * export const needs = ["text"]; // text, graph, vector, decisions
 * export const confidence = (request) => (request.query === "" ? 0 : 0.6);
 *
 * export default async function find({ request, scope, plan }, { tokens, signal }) {
 *   return []; // fragments
 * }
 * ```
 *
 * Only `confidence` runs in the calling thread.
 */
import { ConfigurationError, UsageError } from "../../domain/errors/errors.ts";
import { nearest } from "../../domain/text/suggest.ts";
import { shown } from "../../domain/text/text.ts";
import { type Backend, BACKENDS } from "../../domain/context/context-question.ts";
import { type StageName } from "../model/context-model.ts";
import type { ContextStrategy, Stages } from "../model/stage-interfaces.ts";
import { loadTrusted } from "./trusted-module.ts";

const NAME = /^[a-z][a-z0-9-]{0,63}$/;
const DEFAULT_QUALITY = 0.5;
const DEFAULT_CONFIDENCE = 0.5;

export interface CustomStrategy {
  readonly name: string;
  /** Absolute path. */
  readonly module: string;
}

export class StrategyRegistry {
  readonly #strategies = new Map<string, ContextStrategy>();
  readonly #disabled = new Set<string>();

  constructor(builtIn: readonly ContextStrategy[]) {
    for (const strategy of builtIn) this.#add(strategy);
  }

  /** Adds a custom strategy; `trusted` are the places that code may come from. */
  async load(own: CustomStrategy, trusted: readonly string[]): Promise<void> {
    this.#add(await loadStrategy(own, trusted));
  }

  /** Only these; every name must be known. */
  enableOnly(names: readonly string[]): void {
    for (const name of names) this.#require(name);
    for (const name of this.#strategies.keys()) {
      if (names.includes(name)) this.#disabled.delete(name);
      else this.#disabled.add(name);
    }
  }

  all(): readonly { readonly strategy: ContextStrategy; readonly enabled: boolean }[] {
    return Array.from(this.#strategies.values(), (strategy) => ({
      strategy,
      enabled: !this.#disabled.has(strategy.name),
    }));
  }

  /** The strategies that an assembler may select from. */
  enabled(): readonly ContextStrategy[] {
    return this.all().flatMap(({ strategy, enabled }) => (enabled ? strategy : []));
  }

  #add(strategy: ContextStrategy): void {
    if (this.#strategies.has(strategy.name)) {
      throw new ConfigurationError(`There are two strategies called "${strategy.name}".`, {
        next: [{ text: "give your strategy another name" }],
      });
    }
    this.#strategies.set(strategy.name, strategy);
  }

  #require(name: string): ContextStrategy {
    const strategy = this.#strategies.get(name);
    if (strategy !== undefined) return strategy;
    const names = Array.from(this.#strategies.keys());
    const suggestion = nearest(name, names);
    throw new UsageError(`There is no strategy ${shown(name)} (known: ${names.join(", ")}).`, {
      ...(suggestion === undefined ? {} : { next: [{ text: `did you mean ${suggestion}?` }] }),
      detail: { name, known: names },
    });
  }
}

async function loadStrategy({ name, module }: CustomStrategy, trusted: readonly string[]): Promise<ContextStrategy> {
  const complain = (what: string): never => {
    throw new ConfigurationError(`The strategy ${shown(name)} of ${shown(module, 200)} cannot be used: ${what}.`, {
      kept: "Nothing else was changed.",
      detail: { name, module },
    });
  };
  if (!NAME.test(name)) complain("its name must be lower-case letters, digits and hyphens, beginning with a letter");
  const { url, exports } = await loadTrusted(module, trusted);
  const { description = "", quality = DEFAULT_QUALITY, needs = ["text"], confidence } = exports;
  if (typeof exports["default"] !== "function") complain("its default export must be a function");
  if (typeof description !== "string") return complain("description must be text");
  if (typeof quality !== "number" || !(quality >= 0 && quality <= 1)) return complain("quality must be from 0 to 1");
  if (!isBackends(needs)) return complain(`needs must be a list of ${BACKENDS.join(", ")}`);
  if (!isConfidence(confidence)) return complain("confidence must be a function");
  return {
    name,
    description,
    quality,
    needs,
    module: url,
    exportName: "default",
    confidence: confidence ?? (() => DEFAULT_CONFIDENCE),
  };
}

function isBackends(value: unknown): value is readonly Backend[] {
  return Array.isArray(value) && value.every((item) => BACKENDS.some((backend) => backend === item));
}

/** Its result is checked at each call. */
function isConfidence(value: unknown): value is ContextStrategy["confidence"] | undefined {
  return value === undefined || typeof value === "function";
}

const METHODS: { readonly [Name in StageName]: string & keyof Stages[Name] } = {
  select: "select",
  allocate: "allocate",
  execute: "execute",
  deduplicate: "deduplicate",
  resolve_depth: "resolve",
  score: "score",
  pack: "pack",
  order: "order",
  preamble: "generate",
};

/**
 * Custom stages: for each an ES module whose default export has the stage's method, e.g. `export default { name:
 * "ByPath", order: (fragments) => … }`. They run in the calling thread, and their results are checked.
 */
export async function loadStages(
  modules: Readonly<Partial<Record<StageName, string>>>,
  trusted: readonly string[],
): Promise<Partial<Stages>> {
  const loaded: Partial<Record<StageName, object>> = {};
  for (const stage of Object.keys(METHODS) as StageName[]) {
    const module = modules[stage];
    if (module === undefined) continue;
    const { exports } = await loadTrusted(module, trusted);
    const component = exports["default"];
    const method = METHODS[stage];
    if (typeof component !== "object" || component === null || !hasMethod(component, method)) {
      throw new ConfigurationError(
        `The module ${shown(module, 200)} cannot be the stage "${stage}": its default export must be an object with a method "${method}".`,
        { kept: "Nothing else was changed.", detail: { stage, module } },
      );
    }
    loaded[stage] = component;
  }
  // The existence of the method is all that can be known before it is called; its results are checked at each call.
  return loaded as Partial<Stages>;
}

function hasMethod(component: object, method: string): boolean {
  return method in component && typeof (component as Readonly<Record<string, unknown>>)[method] === "function";
}
