import type { AssembledContext, ContextRequest } from "../context/model.ts";
import type { IndexedPlace } from "../plans/index-places.ts";
import type { ContextResult } from "../plans/context-service.ts";
import { foundBy } from "./context-data.ts";
import { count } from "./format.ts";
import type { Message } from "./outcome.ts";

/** What was done to the indexes on the way, and why there is nothing when there is nothing: never an empty answer. */
export function contextMessages({ indexed, assembled }: ContextResult, request: ContextRequest): Message[] {
  return [
    ...indexed.flatMap(indexMessages),
    ...nothingFound({ indexed, assembled }, request),
    ...nothingMatched(assembled, request),
    ...maskedSecrets(assembled),
  ];
}

export function indexMessages({ place, result }: IndexedPlace): Message[] {
  const { added, changed, removed, files, rebuilt } = result;
  const messages: Message[] = [];
  if (rebuilt !== undefined)
    messages.push({ level: "warning", text: `The index of ${place.resource} was made anew: ${rebuilt}.` });
  const differing = added + changed + removed;
  if (differing === 0) return messages;
  const first = added === files && changed + removed === 0;
  const text = first
    ? `${place.resource} was indexed: ${count(files, "file")}.`
    : `The index of ${place.resource} was behind and is up to date again: ${count(changed, "file")} changed, ${added} added, ${removed} gone.`;
  return [...messages, { level: "info", text }];
}

export function indexData(indexed: readonly IndexedPlace[]): Record<string, unknown>[] {
  return indexed.map(({ place, result, durationMs }) => ({
    resource: place.resource,
    path: place.root,
    files: result.files,
    added: result.added,
    changed: result.changed,
    removed: result.removed,
    gaps: result.gaps.length,
    rebuilt: result.rebuilt ?? null,
    duration_ms: Math.round(durationMs),
  }));
}

/** What ranks files finds something for any question; when none of its words occurs anywhere, that is no answer to it. */
function nothingMatched(assembled: AssembledContext, { query, focus }: ContextRequest): Message[] {
  if (query === "" || focus.length > 0 || assembled.fragments.length === 0) return [];
  if (foundBy(assembled, "simple-keyword") !== 0) return [];
  const text = `No word of "${query}" occurs in any file; what is shown is what matters most in general. Try names from the code, or --focus <path>.`;
  return [{ level: "warning", text }];
}

function maskedSecrets({ masked: [first, ...others] }: AssembledContext): Message[] {
  if (first === undefined) return [];
  const files = others.length === 0 ? first : `${first} and ${others.length} more`;
  return [{ level: "info", text: `Secrets in ${files} are masked.` }];
}

function nothingFound(
  { indexed, assembled }: Pick<ContextResult, "indexed" | "assembled">,
  request: ContextRequest,
): Message[] {
  if (assembled.fragments.length > 0) return [];
  const files = indexed.reduce((sum, { result }) => sum + result.files, 0);
  const { excluded, budget, strategies } = assembled;
  if (excluded.some(({ reason }) => reason === "budget" || reason === "too small")) {
    const text = `Nothing fits into ${count(budget.available, "token")}: ${count(excluded.length, "fragment")} left out. Give it a larger --budget.`;
    return [{ level: "warning", text }];
  }
  const searched = strategies.map(({ name }) => name).join(", ") || "no strategy";
  const words = request.query === "" ? "" : ` for "${request.query}"`;
  const text =
    budget.available === 0
      ? "The budget leaves no token for the context."
      : `Nothing was found${words} in ${count(files, "file")} by ${searched}. Try other words, names from the code, or --focus <path>.`;
  return [{ level: "warning", text }];
}
