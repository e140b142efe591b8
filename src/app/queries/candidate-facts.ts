/** The candidates of one request side by side: what each came to, and where their results agree. */
import { createHash } from "node:crypto";
import * as z from "zod";
import { diffOf } from "../../changes/diff-cache.ts";
import { targetChanges } from "../../changes/net-changes.ts";
import { planAnswer } from "../../changes/plan-answer.ts";
import { planChanges, type PlanChange } from "../../changes/plan-changes.ts";
import { nextStep, type NextStep } from "../../domain/errors/next-step.ts";
import type { PlanId } from "../../domain/names/ids.ts";
import { bestCandidate, type CandidateGroup, type ComparedCandidate } from "../../domain/plan/candidate.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { isRecoverable, statusKey, PHASES, STATES } from "../../domain/plan/transitions.ts";
import { groupSpending } from "../../ledger/budget-report.ts";
import { findVerdicts, groupScopeOf, type CandidateVerdict } from "../../ledger/candidate-records.ts";
import { findLease } from "../../ledger/leases.ts";
import { planUsage } from "../../ledger/model-calls.ts";
import { openQuestion } from "../../ledger/questions.ts";
import type { App } from "../base/app.ts";
import { Instant, instant, NextSteps } from "../base/schemas.ts";
import { Checked, checkedResult } from "./checked-result.ts";
import { planValidations, ValidationSummary } from "./plan-validations.ts";
import { planCost, SpendingFacts, spendingFacts } from "./spending.ts";

/** How a candidate stands, in one word. */
const SITUATIONS = ["waiting", "working", "asks", "strategy", "stopped", "ready", "applied", "cancelled"] as const;

const CandidateFacts = z.strictObject({
  /** 1, 2, 3 … in the order in which they were made. */
  candidate: z.int(),
  planId: z.string(),
  actor: z.string().nullable(),
  situation: z.enum(SITUATIONS),
  phase: z.enum(PHASES),
  state: z.enum(STATES),
  chosen: z.boolean(),
  changes: z.strictObject({ files: z.int(), insertions: z.int(), deletions: z.int() }),
  checked: Checked,
  validationSummary: ValidationSummary,
  /** Why it cannot be applied like this; null when nothing is known to stand in the way. */
  obstacle: z.string().nullable(),
  /** Why it stopped; null when it did not. */
  error: z.string().nullable(),
  /** The question it asks. */
  question: z.string().nullable(),
  answer: z.string().nullable(),
  cost: SpendingFacts,
  tokens: z.strictObject({ input: z.int(), cached: z.int(), output: z.int() }),
  /** From the first phase to the end of the work, without the time in which it waited for a person. */
  durationMs: z.number(),
});

const Agreement = z.strictObject({
  /** Changed by all of the compared candidates to the same bytes. */
  same: z.array(z.string()),
  /** Changed by all of them, differently. */
  different: z.array(z.string()),
  /** Changed by some of them. */
  some: z.array(z.strictObject({ path: z.string(), candidates: z.array(z.int()) })),
});

const VerdictFacts = z.strictObject({
  judge: z.string(),
  candidate: z.int(),
  planId: z.string(),
  decisionId: z.string(),
  reasons: z.string(),
});

export const Comparison = z.strictObject({
  groupId: z.string(),
  description: z.string(),
  definitionOfDone: z.string(),
  createdAt: Instant,
  candidates: z.array(CandidateFacts),
  agreement: Agreement,
  verdict: VerdictFacts.nullable(),
  /** The best one by the group's rule: what `--yes` would choose now. */
  best: z.string().nullable(),
  chosen: z.strictObject({ planId: z.string(), at: Instant }).nullable(),
  /** Of all candidates and of the judge. */
  cost: SpendingFacts,
  nextSteps: NextSteps,
});

export type ComparisonFacts = z.output<typeof Comparison>;

type Facts = z.output<typeof CandidateFacts>;

/** One candidate with the things that its facts are made of. */
interface Looked {
  readonly plan: Plan;
  readonly facts: Facts;
  /** By resource and path, the state it left there. */
  readonly after: ReadonlyMap<string, string>;
  readonly patch: string;
}

/** `errors`: of candidates that failed just now, by plan. */
export async function compareCandidates(
  app: App,
  group: CandidateGroup,
  errors: ReadonlyMap<string, string> = new Map(),
): Promise<ComparisonFacts> {
  const looked = (await lookAt(app, group)).map((one) => {
    const error = one.facts.error ?? errors.get(one.plan.id) ?? null;
    const situation = error !== null && one.facts.situation === "waiting" ? "stopped" : one.facts.situation;
    return { ...one, facts: { ...one.facts, error, situation } as const };
  });
  return comparisonOf(app, group, looked);
}

/** The results as a judge reads them, and the digest by which its verdict is found again. */
export async function resultsOf(
  app: App,
  group: CandidateGroup,
): Promise<{ readonly digest: string; readonly results: readonly { plan: Plan; facts: Facts; patch: string }[] }> {
  const looked = await lookAt(app, group);
  return { digest: digestOf(looked), results: looked.filter(({ facts }) => isApplicable(facts)) };
}

async function lookAt(app: App, group: CandidateGroup): Promise<Looked[]> {
  const looked: Looked[] = [];
  for (const [index, id] of group.plans.entries()) looked.push(await lookAtOne(app, group, { id, place: index + 1 }));
  return looked;
}

async function lookAtOne(
  app: App,
  group: CandidateGroup,
  { id, place }: { readonly id: PlanId; readonly place: number },
): Promise<Looked> {
  const store = await app.store();
  const service = await app.plans();
  const plan = await service.getPlan(id);
  const entries = await planChanges(store, id, plan.attempt);
  const { files, insertions, deletions, patch } = await diffOf(store, entries);
  const validated = await planValidations(store, plan);
  const { today: _, ...cost } = await planCost(app, id);
  const { question, usage, working } = await store.read(async (reader) => ({
    question: await openQuestion(reader, id),
    usage: await planUsage(reader, id),
    working: (await findLease(reader, id))?.lapsed === false,
  }));
  const failure = isRecoverable(plan) ? (await service.listFailures(id)).at(-1) : undefined;
  const executed = isExecuted(plan);
  const facts: Facts = {
    candidate: place,
    planId: id,
    actor: plan.actors.execution ?? null,
    situation: situationOf(plan, { asks: question !== undefined, working }),
    phase: plan.phase,
    state: plan.state,
    chosen: group.chosen?.plan === id,
    changes: { files: files.length, insertions, deletions },
    checked: await checkedResult(app, plan, validated.results),
    validationSummary: validated.summary,
    obstacle: executed ? (validated.obstacle ?? null) : null,
    error: failure?.message ?? null,
    question: question?.question ?? null,
    answer: executed ? ((await planAnswer(store, plan)) ?? null) : null,
    cost,
    tokens: { input: usage.inputTokens, cached: usage.cachedTokens, output: usage.outputTokens },
    durationMs: workingTime(plan),
  };
  return { plan, facts, after: statesOf(entries), patch };
}

function isExecuted(plan: Plan): boolean {
  return plan.phase === "apply" || statusKey(plan) === "execute/complete";
}

function situationOf(plan: Plan, now: { readonly asks: boolean; readonly working: boolean }): Facts["situation"] {
  if (plan.state === "cancelled") return "cancelled";
  if (statusKey(plan) === "apply/applied") return "applied";
  if (now.asks) return "asks";
  if (now.working) return "working";
  if (statusKey(plan) === "execute/complete") return "ready";
  if (statusKey(plan) === "strategize/complete") return "strategy";
  return statusKey(plan) === "strategize/queued" ? "waiting" : "stopped";
}

/** A phase that is under way counts up to now. */
function workingTime(plan: Plan): number {
  const now = Date.now();
  const times = [plan.phaseTimes.strategize, plan.phaseTimes.execute];
  return times.reduce((sum, { startedAt, endedAt }) => {
    return startedAt === undefined ? sum : sum + ((endedAt ?? now) - startedAt);
  }, 0);
}

function statesOf(entries: readonly PlanChange[]): ReadonlyMap<string, string> {
  const resources = Map.groupBy(entries, ({ resource }) => resource);
  const states = [...resources].flatMap(([resource, own]) =>
    [...targetChanges(own)].map(([path, { after }]) => {
      const name = resources.size === 1 ? path : `${resource}/${path}`;
      return [name, after === undefined ? "deleted" : `${after.mode}:${after.hash}`] as const;
    }),
  );
  return new Map(states);
}

/** Of the results that can be judged; the same before and after one of them is applied. */
function digestOf(looked: readonly Looked[]): string {
  const all = looked.map(({ plan, after }) => [plan.id, plan.attempt, isExecuted(plan), [...after]]);
  return createHash("sha256").update(JSON.stringify(all)).digest("hex");
}

export function isApplicable({ situation, obstacle, changes }: Facts): boolean {
  return situation === "ready" && obstacle === null && changes.files > 0;
}

async function comparisonOf(app: App, group: CandidateGroup, looked: readonly Looked[]): Promise<ComparisonFacts> {
  const [first] = looked;
  if (first === undefined) throw new Error(`the candidate group ${group.id} has no plan`);
  const store = await app.store();
  const digest = digestOf(looked);
  const { verdicts, scope } = await store.read(async (reader) => ({
    verdicts: await findVerdicts(reader, group.id, digest),
    scope: await groupScopeOf(reader, first.plan.id),
  }));
  const verdict = verdicts.find(({ judge }) => judge === group.judge) ?? verdicts[0];
  const best = bestCandidate(
    looked.map(({ facts }) => comparedOf(facts)),
    { rule: group.rule, recommended: verdict?.plan },
  );
  const spending = await store.read((reader) => groupSpending(reader, scope ?? { id: group.id, cap: undefined }));
  const candidates = looked.map(({ facts }) => facts);
  return {
    groupId: group.id,
    description: first.plan.description,
    definitionOfDone: first.plan.definitionOfDone,
    createdAt: instant(group.createdAt),
    candidates,
    agreement: agreementOf(looked.filter(({ plan, facts }) => facts.changes.files > 0 && isExecuted(plan))),
    verdict: verdict === undefined ? null : verdictFacts(group, verdict),
    best: best?.plan ?? null,
    chosen: group.chosen === undefined ? null : { planId: group.chosen.plan, at: instant(group.chosen.at) },
    cost: spendingFacts(spending),
    nextSteps: nextOf(group, candidates, best?.plan),
  };
}

function comparedOf(facts: Facts): ComparedCandidate {
  const { planId, checked, cost } = facts;
  return {
    plan: planId as PlanId,
    applicable: isApplicable(facts),
    checked: checked.outcome,
    cost: Math.round((cost.spentUsd + cost.assumedUsd) * 1_000_000),
  };
}

function verdictFacts(group: CandidateGroup, verdict: CandidateVerdict): z.output<typeof VerdictFacts> {
  const { judge, plan, decision, reasons } = verdict;
  return { judge, candidate: group.plans.indexOf(plan) + 1, planId: plan, decisionId: decision, reasons };
}

function agreementOf(looked: readonly Looked[]): z.output<typeof Agreement> {
  const agreement: z.output<typeof Agreement> = { same: [], different: [], some: [] };
  // One result agrees with nothing.
  if (looked.length < 2) return agreement;
  const paths = [...new Set(looked.flatMap(({ after }) => [...after.keys()]))].sort();
  for (const path of paths) {
    const having = looked.filter(({ after }) => after.has(path));
    if (having.length < looked.length)
      agreement.some.push({ path, candidates: having.map(({ facts }) => facts.candidate) });
    else if (new Set(having.map(({ after }) => after.get(path))).size === 1) agreement.same.push(path);
    else agreement.different.push(path);
  }
  return agreement;
}

function nextOf(group: CandidateGroup, candidates: readonly Facts[], best: PlanId | undefined): NextStep[] {
  if (group.chosen !== undefined)
    return [nextStep("plan.status", { plan: group.chosen.plan }), nextStep("cleanup.run")];
  const [asking] = candidates.filter(({ situation }) => situation === "asks");
  const unfinished = candidates.some(({ situation }) => ["waiting", "strategy", "stopped", "asks"].includes(situation));
  return [
    ...(asking === undefined ? [] : [nextStep("plan.prompt", { plan: asking.planId, text: "<answer>" })]),
    ...(best === undefined ? [] : [nextStep("plan.diff", { plan: best }), nextStep("plan.choose", { plan: best })]),
    ...(unfinished ? [nextStep("run", { continue: true })] : []),
  ];
}
