/** A model's question to the user: the tool `ask_user`, and a text that only asks. */
import type { ModelToolCall } from "../models/model.ts";
import type { AgentEffects } from "./actor-effects.ts";
import type { ToolReply } from "./agent-loop.ts";
import { questionSchema } from "./control-tools.ts";

export async function askedUser<T>(call: ModelToolCall, key: string, effects: AgentEffects): Promise<ToolReply<T>> {
  const parsed = questionSchema.safeParse(call.params);
  if (!parsed.success) return { told: `The question does not fit: ${parsed.error.issues[0]?.message}`, failed: true };
  const { question, options } = parsed.data;
  return { told: `The user answers: ${await effects.askUser(key, question, options)}` };
}

/** Whether a text without any work ends with a question, so that only the user can continue. */
export function isQuestion(text: string): boolean {
  return /\?["'”’)\]*_\s]*$/.test(text.trim());
}
