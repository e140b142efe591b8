import * as z from "zod";
import {
  CONTEXT_VIEWS,
  parseCountLimit,
  parseSizeLimit,
  parseTokens,
  parseView,
  resolveView,
  type ContextPolicy,
  type ContextView,
  type ViewPolicy,
} from "../../domain/context/context-policy.ts";
import { UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps } from "../base/schemas.ts";
import { PolicyFacts, policyFacts } from "../queries/policy-facts.ts";

const Input = z.strictObject({
  project: z.string(),
  view: z.string().default("default"),
  includes: z.array(z.string()).default([]),
  excludes: z.array(z.string()).default([]),
  /** "512k", "1m", or "none". */
  maxFileSize: z.string().optional(),
  maxTotalSize: z.string().optional(),
  maxFiles: z.string().optional(),
  strategies: z.array(z.string()).default([]),
  /** Tokens: "8000", "32k". */
  budget: z.string().optional(),
  clear: z.boolean().default(false),
});

export const operation = defineOperation({
  input: Input,
  output: PolicyFacts.extend({
    view: z.enum(CONTEXT_VIEWS),
    cleared: z.boolean(),
    /** Views that take over what was set. */
    inheritedBy: z.array(z.enum(CONTEXT_VIEWS)),
    nextSteps: NextSteps.optional(),
  }),
  run: async (app, input) => {
    const view = parseView(input.view);
    const change = changeOf(input);
    const { clear } = input;
    if (Object.values(change).every((value) => value === undefined) && !clear) {
      throw new UsageError("Nothing to set: name at least one setting, or --clear.", {
        kept: "Nothing was changed.",
        next: [{ text: "agents project context set --help" }],
      });
    }
    const policies = await app.policies();
    const { project: named } = await policies.getPolicy(input.project);
    const strategies = await app.strategyNames(named);
    const set = await policies.setView(named, view, change, { clear, strategies });
    return {
      ...policyFacts(set, [view]),
      view,
      cleared: clear,
      inheritedBy: inheritors(view, set.policy),
      nextSteps: [nextStep("project.context.inspect", { project: set.project, view })],
    };
  },
});

function changeOf(input: z.output<typeof Input>): ViewPolicy {
  const { includes, excludes, maxFileSize, maxTotalSize, maxFiles, strategies, budget } = input;
  const list = (given: readonly string[]): readonly string[] | undefined => (given.length === 0 ? undefined : given);
  const limit = (text: string | undefined, flag: string, parse: typeof parseSizeLimit): number | null | undefined =>
    text === undefined ? undefined : parse(text, flag);
  return {
    include: list(includes),
    exclude: list(excludes),
    maxFileSize: limit(maxFileSize, "--max-file-size", parseSizeLimit),
    maxTotalSize: limit(maxTotalSize, "--max-total-size", parseSizeLimit),
    maxFiles: limit(maxFiles, "--max-files", parseCountLimit),
    strategies: list(strategies),
    budget: budget === undefined ? undefined : parseTokens(budget, "--budget"),
  };
}

function inheritors(view: ContextView, policy: ContextPolicy): ContextView[] {
  const later = CONTEXT_VIEWS.slice(CONTEXT_VIEWS.indexOf(view) + 1);
  return later.filter((other) => Object.values(resolveView(policy, other).from).includes(view));
}
