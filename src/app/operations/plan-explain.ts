import * as z from "zod";
import { NotFoundError } from "../../domain/errors/errors.ts";
import type { DecisionId } from "../../domain/names/ids.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { ToolInvocation } from "../../domain/plan/decision.ts";
import type { ModelCallFacts } from "../../ledger/model-calls.ts";
import { defineOperation } from "../base/operation.ts";
import { Instant, instant, Json, NextSteps } from "../base/schemas.ts";
import { DECISION_STATES, decisionTree } from "../queries/decision-tree.ts";
import { calledOutput } from "../queries/called-output.ts";
import { explainedBy, type Explained, type ExplainedFile } from "../queries/explained-decision.ts";
import { isId, planMeant } from "../queries/plan-meant.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";

const Named = z.strictObject({ id: z.string(), step: z.string().nullable() });

const ModelCall = z.strictObject({
  model: z.string(),
  inputTokens: z.int(),
  /** Those of the input tokens that the provider read from its cache. */
  cachedTokens: z.int(),
  outputTokens: z.int(),
  estimated: z.boolean(),
  costUsd: z.number().nullable(),
  durationMs: z.number(),
  tries: z.int(),
  maskedSecrets: z.int(),
});

const ToolCall = z.strictObject({
  id: z.string(),
  tool: z.string(),
  parameters: Json,
  startedAt: Instant,
  durationMs: z.number().nullable(),
  outcome: z.enum(["ok", "failed"]).nullable(),
  error: z.string().nullable(),
  refusedBy: z.string().nullable(),
  resultSize: z.int().nullable(),
  changes: z.int(),
  superseded: z.boolean(),
});

const Output = z.strictObject({
  decision: z.strictObject({
    id: z.string(),
    planId: z.string(),
    attempt: z.int(),
    sequence: z.int(),
    decisions: z.int(),
    type: z.string(),
    phase: z.string(),
    step: z.string().nullable(),
    question: z.string(),
    chosen: Json,
    confidence: z.number().nullable(),
    rationale: z.string().nullable(),
    /** Only when asked for. */
    reasoning: z.string().nullable().optional(),
    /** Only when asked for. */
    alternatives: z.array(z.string()).readonly().optional(),
    parent: z.string().nullable(),
    needs: z.array(Named),
    state: z.enum(DECISION_STATES),
    createdAt: Instant,
    supersededAt: Instant.nullable(),
    supersededBy: z.string().nullable(),
  }),
  /** Instructions of the project and of the user that models were told in it. */
  instructions: z.array(z.strictObject({ path: z.string(), bytes: z.int(), step: z.string() })).readonly(),
  contextSnapshot: z.strictObject({ sha256: z.string(), bytes: z.int() }).nullable(),
  /** All that its tool calls returned, as a model reads it; only when asked for. */
  output: z.string().optional(),
  /** Exactly what the model was shown; only when asked for. */
  context: z.string().optional(),
  modelCall: ModelCall.nullable(),
  impact: z.strictObject({
    downstreamDecisions: z.int(),
    artifactsProduced: z.int(),
    correctionImpact: z.enum(["low", "medium", "high"]),
  }),
  dependants: z.array(Named),
  toolCalls: z.array(ToolCall),
  files: z.array(
    z.strictObject({
      resource: z.string(),
      path: z.string(),
      fromPath: z.string().nullable(),
      operation: z.string(),
      toolCall: z.string().optional(),
      /** Part of what the plan changed: made by a step that was recorded and not rolled back. */
      counts: z.boolean(),
    }),
  ),
  nextSteps: NextSteps,
});

/** One decision: what was decided and why, what it needed, the tool calls made for it, and the files they changed. */
export const operation = defineOperation({
  input: z.strictObject({
    /** The plan that is meant, or a decision's id. */
    id: z.string().optional(),
    directory: z.string().optional(),
    decision: z.string().optional(),
    output: z.boolean().default(false),
    showContext: z.boolean().default(false),
    showReasoning: z.boolean().default(false),
    showAlternatives: z.boolean().default(false),
  }),
  output: Output,
  run: async (app, input, call) => {
    const [first, second] = await meant(app, input, call);
    const named = await explainedBy(app, first, second);
    const explained = input.showContext ? await answerOf(app, named) : named;
    const { plan, outcome, context } = explained;
    if (input.showContext && context === undefined) {
      throw new NotFoundError("context of decision", outcome.decision.id, {
        kept: "No model was asked for it.",
        next: [nextStep("plan.tree", { plan: plan.id })],
      });
    }
    const output = input.output ? { output: await calledOutput(await app.store(), explained) } : {};
    return { ...explanation(explained, input), ...output };
  },
});

/** Of a step, or of the whole plan, a model was shown what its first answer came from. */
async function answerOf(app: App, named: Explained): Promise<Explained> {
  const { plan, outcome, context } = named;
  if (context !== undefined || outcome.state === "superseded") return named;
  const { step } = outcome.decision;
  const { decisionIds } = await decisionTree(app, plan, {});
  const answer = decisionIds[step === undefined ? "strategy" : `${step}.1`];
  return answer === undefined ? named : explainedBy(app, plan.id, answer);
}

interface Given {
  readonly id?: string | undefined;
  readonly directory?: string | undefined;
  readonly decision?: string | undefined;
}

/** A plan and a decision of it. A word that names no plan is a step of the newest plan here. */
async function meant(
  app: App,
  { id, decision, directory }: Given,
  call: Call,
): Promise<readonly [string, string | undefined]> {
  const wanted = { operation: "plan.explain" } as const;
  if (id !== undefined && isId(id)) return [id, decision];
  try {
    return [(await planMeant(app, { plan: id, directory }, wanted, call)).id, decision];
  } catch (error) {
    if (!(error instanceof NotFoundError) || id === undefined || decision !== undefined) throw error;
    return [(await planMeant(app, { directory }, wanted, call)).id, id];
  }
}

interface Shows {
  readonly showContext: boolean;
  readonly showReasoning: boolean;
  readonly showAlternatives: boolean;
}

function explanation(explained: Explained, shows: Shows): z.output<typeof Output> {
  const { plan, outcome, known, files, dependants: related, call, context, instructions } = explained;
  const { snapshot } = outcome.decision.thought;
  const named = (id: DecisionId): z.output<typeof Named> => ({ id, step: known.get(id)?.step ?? null });
  const downstream = related.length;
  return {
    decision: decisionFacts(explained, shows),
    instructions,
    contextSnapshot: snapshot === undefined ? null : { sha256: snapshot, bytes: context?.byteLength ?? 0 },
    ...(shows.showContext ? { context: Buffer.from(context ?? []).toString("utf8") } : {}),
    modelCall: call === undefined ? null : modelCallFacts(call),
    impact: {
      downstreamDecisions: downstream,
      artifactsProduced: new Set(files.map(({ resource, path }) => `${resource}/${path}`)).size,
      // How much would have to be decided again with it.
      correctionImpact: downstream === 0 ? "low" : downstream < 5 ? "medium" : "high",
    },
    dependants: related.map(named),
    toolCalls: outcome.calls.map((one) => toolCallFacts(one, files)),
    files: files.map(({ resource, path, fromPath, operation: change, toolInvocation, counts }) => ({
      resource,
      path,
      fromPath: fromPath ?? null,
      operation: change,
      toolCall: toolInvocation,
      counts,
    })),
    nextSteps: [nextStep(outcome.decision.step === undefined ? "plan.tree" : "plan.diff", { plan: plan.id })],
  };
}

function decisionFacts({ outcome, total, known }: Explained, shows: Shows): z.output<typeof Output>["decision"] {
  const { decision, state } = outcome;
  const { confidence, rationale, reasoning, alternatives } = decision.thought;
  return {
    id: decision.id,
    planId: decision.planId,
    attempt: decision.attempt,
    sequence: decision.sequence,
    decisions: total,
    type: decision.type,
    phase: decision.phase,
    step: decision.step ?? null,
    question: decision.question,
    chosen: decision.chosen,
    confidence: confidence ?? null,
    rationale: rationale ?? null,
    ...(shows.showReasoning ? { reasoning: reasoning ?? null } : {}),
    ...(shows.showAlternatives ? { alternatives: alternatives ?? [] } : {}),
    parent: decision.parent ?? null,
    needs: decision.needs.map((id) => ({ id, step: known.get(id)?.step ?? null })),
    state,
    createdAt: instant(decision.createdAt),
    supersededAt: decision.supersededAt === undefined ? null : instant(decision.supersededAt),
    supersededBy: decision.supersededBy ?? null,
  };
}

function modelCallFacts(call: ModelCallFacts): z.output<typeof ModelCall> {
  const { provider, model, inputTokens, cachedTokens, outputTokens, estimated, cost, durationMs, tries, masked } = call;
  return {
    model: `${provider}/${model}`,
    inputTokens,
    cachedTokens,
    outputTokens,
    estimated,
    costUsd: cost === undefined ? null : cost / 1_000_000,
    durationMs,
    tries,
    maskedSecrets: masked,
  };
}

function toolCallFacts(call: ToolInvocation, files: readonly ExplainedFile[]): z.output<typeof ToolCall> {
  const { end } = call;
  return {
    id: call.id,
    tool: call.tool,
    parameters: call.params,
    startedAt: instant(call.startedAt),
    durationMs: end?.durationMs ?? null,
    outcome: end?.outcome ?? null,
    error: end?.outcome === "failed" ? end.error : null,
    refusedBy: call.refusedBy ?? null,
    resultSize: end?.outcome === "ok" ? end.resultSize : null,
    changes: files.filter(({ changesetId }) => changesetId === call.changesetId).length,
    superseded: call.supersededAt !== undefined,
  };
}
