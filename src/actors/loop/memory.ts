import type { ActorMemory } from "../../domain/actor/actor.ts";
import type { ModelMessage } from "../models/model.ts";

/**
 * Where the message stands that says what to do. A conversation that continues a session has earlier ones in front of
 * it. It may have lost its images, which a note at its end then says.
 */
export function openingAt(messages: readonly ModelMessage[], opening: string | undefined): number {
  if (opening === undefined) return 0;
  return Math.max(
    0,
    messages.findLastIndex((message) => message.role === "user" && message.content.startsWith(opening)),
  );
}

/**
 * As much of its conversation as an actor's model is shown again: always the message that says what to do, then the
 * newest messages. A tool's result never comes without the call it answers: providers refuse that.
 */
export function remembered(
  messages: readonly ModelMessage[],
  { maxMessages, maxTokens }: ActorMemory,
  count: (text: string) => number,
  opening = 0,
): readonly ModelMessage[] {
  const first = messages[opening];
  const rest = messages.slice(1);
  if (first === undefined || (maxMessages === undefined && maxTokens === undefined)) return messages;
  const sizeOf = (message: ModelMessage): number => (maxTokens === undefined ? 0 : count(JSON.stringify(message)));
  let size = sizeOf(first);
  let from = rest.length;
  while (from > 0) {
    const begin = exchangeBefore(rest, from);
    const exchange = rest.slice(begin, from);
    size += exchange.reduce((sum, message) => sum + sizeOf(message), 0);
    const tooMany = maxMessages !== undefined && rest.length - begin + 1 > maxMessages;
    const tooMuch = tooMany || (maxTokens !== undefined && size > maxTokens);
    // The newest exchange is what the model is to answer to.
    if (tooMuch && from < rest.length) break;
    from = begin;
  }
  // The newest messages may begin before the one that says what to do: then the conversation's own beginning leads.
  const [beginning = first] = messages;
  return [opening > from ? beginning : first, ...rest.slice(from)];
}

/** Where the answer with all the results that follow it begins. */
function exchangeBefore(messages: readonly ModelMessage[], end: number): number {
  let begin = end - 1;
  while (begin > 0 && messages[begin]?.role !== "assistant") begin -= 1;
  return begin;
}
