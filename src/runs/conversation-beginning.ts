/** The beginning of a model's conversation: the system prompt, everything about the plan, and the session before it. */
import { opening, systemPrompt, type Briefing } from "../actors/loop/briefing.ts";
import type { ModelMessage } from "../actors/models/model.ts";
import type { ModelActorDefinition } from "../catalog/stored-actor.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { StepPlace } from "../execution/steps/step-runner.ts";
import { planImages } from "../ledger/plan-images.ts";
import { spokenTo } from "../plans/plan-questions.ts";
import type { Store } from "../store/port.ts";
import { conversationUpTo, type ConversationEnd } from "./conversation.ts";
import { briefedResources } from "./plan-briefing.ts";
import type { StepEffects } from "./step-effects.ts";
import { surroundingsOf } from "./surroundings.ts";

/** The beginning of a conversation, recorded: a resumed run begins with the same bytes. */
type Beginning = {
  readonly system: string;
  readonly text: string;
  readonly heard: number;
  /** The instructions in the system prompt; for people. */
  readonly instructions: { readonly path: string; readonly bytes: number }[];
  readonly continues?: ConversationEnd;
};

export interface Begun {
  readonly system: string;
  /** The text of `message`; undefined where the conversation begins with it. */
  readonly opening: string | undefined;
  readonly message: ModelMessage;
  /** The conversation of the session before it. */
  readonly before: readonly ModelMessage[];
}

/** Recorded: a run that resumes begins with the same bytes. */
export async function beginConversation(wish: {
  readonly store: Store;
  readonly ownInstructions: string | undefined;
  readonly effects: StepEffects;
  readonly plan: Plan;
  readonly actor: ModelActorDefinition;
  readonly place: StepPlace;
  /** The conversation of the session that it continues. */
  readonly continues: ConversationEnd | undefined;
  /** Everything about the plan, with what people said so far. */
  readonly briefing: (heard: readonly string[]) => Promise<Briefing>;
}): Promise<Begun> {
  const { store, ownInstructions, effects, plan, actor, place, continues, briefing } = wish;
  const resources = await briefedResources(store, plan);
  // The context is a record of its own, which must not be made within another.
  const heard = await store.read((reader) => spokenTo(reader, plan));
  const told = await briefing(heard);
  const begun = await effects.once("opening", async (): Promise<Beginning> => {
    const surroundings = await surroundingsOf(plan, place.environment.workspaces, ownInstructions);
    const { instructions, facts, checks } = surroundings;
    const system = systemPrompt(actor.systemPrompt, instructions, { resources, facts, checks });
    const paths = instructions.map(({ path, text }) => ({ path, bytes: Buffer.byteLength(text) }));
    const text = opening(told);
    return {
      system,
      text,
      heard: heard.length,
      instructions: paths,
      ...(continues === undefined ? {} : { continues }),
    };
  });
  effects.beginsWith(begun.heard);
  const images = await store.read((reader) => planImages(reader, plan.id));
  const message = { role: "user", content: begun.text, ...(images.length === 0 ? {} : { images }) } as const;
  // Where the recorded beginning continues, also where the session has more by now.
  const before = begun.continues === undefined ? undefined : await conversationUpTo(store, begun.continues);
  return { system: begun.system, opening: begun.text, message, before: before?.messages ?? [] };
}
