import * as z from "zod";
import { nextStep, type NextStep } from "../../domain/errors/next-step.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps, SessionReference } from "../base/schemas.ts";
import { factsOf, SessionFacts, sessionNamed } from "../queries/session-facts.ts";
import { TurnFacts, turnFacts } from "../queries/session-turn-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({
    session: SessionReference,
    /** Where the caller is, for `last`. */
    directory: z.string(),
    decisions: z.boolean().default(false),
  }),
  output: SessionFacts.extend({ turns: z.array(TurnFacts), nextSteps: NextSteps }),
  run: async (app, { session: given, directory, decisions }) => {
    const session = await sessionNamed(app, given, directory);
    const facts = await (await app.store()).read((reader) => factsOf(reader, session.id));
    const turns = await turnFacts(app, session, { decisions });
    // The last turn was read exactly: its changes count only where they are in its present attempt.
    const state = turns.at(-1)?.standing ?? facts.state;
    return { ...facts, state, turns, nextSteps: sessionNext({ ...facts, state }) };
  },
});

function sessionNext({ sessionId, state, lastPlan }: SessionFacts): NextStep[] {
  const tell = (text: string): NextStep => nextStep("tell", { session: sessionId, text });
  const more = tell("<what comes next>");
  if (state === "waiting for you") return [tell("<answer>"), nextStep("session.resume", { session: sessionId })];
  if (state === "working") return [nextStep("plan.status", { plan: lastPlan }), more];
  if (state === "stopped" || state === "not started") return [nextStep("session.resume", { session: sessionId }), more];
  if (state !== "ready to review") return [more];
  return [nextStep("plan.diff", { plan: lastPlan }), nextStep("plan.apply", { plan: lastPlan }), more];
}
