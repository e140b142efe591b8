/** The facts of an action: a template for plans, with its arguments. */
import * as z from "zod";
import type { Action } from "../../domain/action/action.ts";
import { ACTION_STATES } from "../../domain/action/action-state.ts";
import { Instant, instant } from "../base/schemas.ts";
import { ActorsByRole, actorsByRole } from "./plan-facts.ts";

const ArgumentValue = z.union([z.string(), z.number(), z.boolean(), z.array(z.string()).readonly()]);

export const ActionFacts = z.strictObject({
  name: z.string(),
  state: z.enum(ACTION_STATES),
  description: z.string(),
  longDescription: z.string().nullable(),
  definitionOfDone: z.string(),
  actors: ActorsByRole,
  /** Those that the strategist may give single steps to. */
  stepActors: z.array(z.string()).readonly(),
  arguments: z.array(
    z.strictObject({
      name: z.string(),
      type: z.string(),
      required: z.boolean(),
      description: z.string(),
      default: ArgumentValue.nullable(),
      min: z.number().nullable(),
      max: z.number().nullable(),
      pattern: z.string().nullable(),
    }),
  ),
  invariants: z.array(z.string()).readonly(),
  /** Null: as configured. */
  automationProfile: z.string().nullable(),
  reusable: z.boolean(),
  readOnly: z.boolean(),
  version: z.int(),
  createdAt: Instant,
  updatedAt: Instant,
});

export function actionFacts(action: Action): z.output<typeof ActionFacts> {
  return {
    name: action.name,
    state: action.state,
    description: action.description,
    longDescription: action.longDescription ?? null,
    definitionOfDone: action.definitionOfDone,
    actors: actorsByRole(action.actors),
    stepActors: action.stepActors,
    arguments: action.arguments.map((argument) => ({
      name: argument.name,
      type: argument.type,
      required: argument.required,
      description: argument.description,
      default: argument.default ?? null,
      min: argument.min ?? null,
      max: argument.max ?? null,
      pattern: argument.pattern ?? null,
    })),
    invariants: action.invariants,
    automationProfile: action.automationProfile ?? null,
    reusable: action.reusable,
    readOnly: action.readOnly,
    version: action.version,
    createdAt: instant(action.createdAt),
    updatedAt: instant(action.updatedAt),
  };
}
