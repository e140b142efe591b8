/** Messages about index updates, and about the reason when the context is empty. */
import type * as z from "zod";
import {
  emptyReason,
  type BudgetFacts,
  type ContextDetails,
  type IndexFacts,
  type StrategyFacts,
} from "../../app/queries/context-facts.ts";
import { count } from "../terminal/format.ts";
import type { Message } from "../terminal/outcome.ts";

export interface SeenContext extends z.output<typeof ContextDetails> {
  readonly query: string;
  readonly focus: readonly string[];
  readonly available: z.output<typeof BudgetFacts>["availableBudget"];
  readonly activeStrategies: readonly z.output<typeof StrategyFacts>[];
  readonly index: readonly z.output<typeof IndexFacts>[];
}

export function contextMessages(seen: SeenContext): Message[] {
  const { query, available: budget, activeStrategies, index } = seen;
  const strategies = activeStrategies.map(({ name }) => name);
  const nothing = emptyReason({ query, budget, strategies, index, details: seen });
  return [
    ...index.flatMap(indexMessages),
    ...(nothing === undefined ? [] : [{ level: "warning", text: nothing } as const]),
    ...nothingMatched(seen),
    ...maskedSecrets(seen),
  ];
}

export function indexMessages(indexed: z.output<typeof IndexFacts>): Message[] {
  const { resource, added, changed, removed, files, rebuilt } = indexed;
  const messages: Message[] = [];
  if (rebuilt !== null) messages.push({ level: "warning", text: `The index of ${resource} was rebuilt: ${rebuilt}.` });
  if (added + changed + removed === 0) return messages;
  const first = added === files && changed + removed === 0;
  const text = first
    ? `${resource} was indexed: ${count(files, "file")}.`
    : `The index of ${resource} was behind and is up to date again: ${count(changed, "file")} changed, ${added} added, ${removed} gone.`;
  return [...messages, { level: "info", text }];
}

/**
 * Strategies that rank files find something for any question; when none of its words occurs anywhere, that is not an
 * answer.
 */
function nothingMatched({ query, focus, context, activeStrategies }: SeenContext): Message[] {
  if (query === "" || focus.length > 0 || context.fragments.length === 0) return [];
  if (activeStrategies.find(({ name }) => name === "simple-keyword")?.found !== 0) return [];
  const text = `No word of "${query}" occurs in any file; the files shown matter most in general. Try names from the code, or --focus <path>.`;
  return [{ level: "warning", text }];
}

function maskedSecrets({ maskedFiles: [first, ...others] }: SeenContext): Message[] {
  if (first === undefined) return [];
  const files = others.length === 0 ? first : `${first} and ${others.length} more`;
  return [{ level: "info", text: `Secrets in ${files} are masked.` }];
}
