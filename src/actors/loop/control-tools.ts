/**
 * The tools by which a model steers its own work. They touch no file: the loop itself answers them. All of them are
 * offered in every call, also where one cannot be used at the moment, because a provider keeps what it read before only
 * as long as tools and system prompt stay the same bytes.
 */
import * as z from "zod";
import type { ModelTool } from "../models/model.ts";
import {
  parametersOf,
  revisionOfOneActor,
  revisionSchema,
  strategyOfOneActor,
  strategySchema,
} from "./strategy-form.ts";

export const doneSchema = z.object({
  summary: z
    .string()
    .trim()
    .min(1)
    .max(20_000)
    .describe("what you did, what you found out, and what the next steps should know"),
});

export const questionSchema = z.object({
  question: z.string().trim().min(1).max(2_000).describe("one question, complete in itself"),
  options: z.array(z.string().trim().min(1).max(500)).max(9).default([]).describe("answers to choose from, if any"),
});

export const checklistSchema = z.object({
  items: z
    .array(
      z.object({
        text: z.string().trim().min(1).max(500),
        state: z.enum(["open", "doing", "done"]).default("open"),
      }),
    )
    .max(50)
    .describe("the whole list, in order"),
});

export const RECORD_STRATEGY = "record_strategy";
export const REVISE_STRATEGY = "revise_strategy";
export const STEP_DONE = "step_done";
export const ASK_USER = "ask_user";
export const UPDATE_CHECKLIST = "update_checklist";
export const EXPLORE = "explore";

const CONTROL_TOOLS: readonly ModelTool[] = [
  {
    name: RECORD_STRATEGY,
    description:
      "Before the work, alone: records how the goal is reached, as steps in the order in which they read best",
    parameters: parametersOf(strategyOfOneActor),
  },
  {
    name: REVISE_STRATEGY,
    description:
      "During a step, alone: replaces the steps that have not begun, because something turned out differently",
    parameters: parametersOf(revisionOfOneActor),
  },
  {
    name: STEP_DONE,
    description: "Alone, when the present step is done and you have seen the results of all its calls: ends the step",
    parameters: parametersOf(doneSchema),
  },
  {
    name: ASK_USER,
    description:
      "Alone: asks the user, when a choice is theirs to make and the repository does not answer it. The work waits",
    parameters: parametersOf(questionSchema),
  },
  {
    name: UPDATE_CHECKLIST,
    description: "Shows the user a checklist of what you are doing; send the whole list each time",
    parameters: parametersOf(checklistSchema),
  },
];

const SEVERAL_ACTORS: readonly ModelTool[] = CONTROL_TOOLS.map((tool) => {
  if (tool.name === RECORD_STRATEGY) return { ...tool, parameters: parametersOf(strategySchema) };
  return tool.name === REVISE_STRATEGY ? { ...tool, parameters: parametersOf(revisionSchema) } : tool;
});

/** `severalActors`: steps may be given to different actors, which is the same in all calls of a plan. */
export function controlTools(severalActors: boolean): readonly ModelTool[] {
  return severalActors ? SEVERAL_ACTORS : CONTROL_TOOLS;
}

const NAMES: ReadonlySet<string> = new Set(CONTROL_TOOLS.map(({ name }) => name));

export function isControlTool(name: string): boolean {
  return NAMES.has(name);
}
