/**
 * From the results of candidates to one that is applied: compared, judged if the user wants that, chosen by a person or
 * by a rule, and applied as any plan is. The choice is recorded after the yes and before anything is written.
 */
import type * as z from "zod";
import { AgentsError } from "../../domain/errors/errors.ts";
import type { CandidateGroup } from "../../domain/plan/candidate.ts";
import { groupScopeOf } from "../../ledger/candidate-records.ts";
import { chooseCandidate } from "../../plans/candidates.ts";
import { judgeCandidates, requireJudge } from "../../runs/candidate-judge.ts";
import type { App } from "../base/app.ts";
import type { Call, Shown } from "../base/call.ts";
import { compareCandidates, isApplicable, resultsOf, type ComparisonFacts } from "../queries/candidate-facts.ts";
import { diffOfPlan } from "../queries/diff-facts.ts";
import { mayApply } from "./carry-out.ts";
import { applyPlan, type Applied, type ApplyOutcome } from "./land-plan.ts";

export interface ChoiceOptions {
  readonly verify: boolean;
  readonly applyAnyway: boolean;
}

/** The comparison at the end, and the plan that was applied; or why none was. */
export interface Chosen {
  readonly comparison: ComparisonFacts;
  readonly applied: z.output<typeof Applied> | undefined;
  readonly notApplied: string | undefined;
}

/** With the verdict of the group's judge, if it has one. */
export async function comparedAndJudged(
  app: App,
  group: CandidateGroup,
  call: Call,
  errors?: ReadonlyMap<string, string>,
): Promise<ComparisonFacts> {
  const comparison = await compareCandidates(app, group, errors);
  const results = comparison.candidates.filter(isApplicable).length;
  const known = comparison.verdict?.judge === group.judge;
  if (group.judge === undefined || known || results < 2 || group.chosen !== undefined) return comparison;
  try {
    await judge(app, group, group.judge, call);
  } catch (error) {
    // The results are there all the same; a person can choose, and the judge can be asked again.
    if (!(error instanceof AgentsError) || call.signal.aborted) throw error;
    call.tell({ type: "notice", level: "warning", text: `The judge gave no verdict: ${error.message}` });
  }
  // Also without a verdict: what the judge cost belongs to the comparison.
  return compareCandidates(app, group, errors);
}

async function judge(app: App, group: CandidateGroup, name: string, call: Call): Promise<void> {
  const store = await app.store();
  const [first] = group.plans;
  const scope = first === undefined ? undefined : await store.read((reader) => groupScopeOf(reader, first));
  if (scope === undefined) throw new Error(`the candidate group ${group.id} has no plan`);
  const { digest, results } = await resultsOf(app, group);
  call.tell({ type: "progress", doing: `asking ${name} which of ${results.length} candidates is the best` });
  await judgeCandidates({
    store,
    models: await app.groupModels(scope, (warning) => call.tell({ type: "budget_warning", ...warning })),
    group,
    judge: requireJudge(await app.actorNamed(name)),
    results: results.map(({ plan, patch, facts: { checked } }) => ({
      plan,
      patch,
      checked: checked.outcome === "not_checked" ? "not run" : `${checked.outcome}: ${checked.by}`,
    })),
    digest,
    user: await app.user(),
    signal: call.signal,
  });
}

/** Asks a person which, or follows the rule; without both the candidates wait. */
export async function chooseOne(
  app: App,
  group: CandidateGroup,
  comparison: ComparisonFacts,
  options: ChoiceOptions,
  call: Call,
): Promise<Chosen> {
  const none = (notApplied?: string): Chosen => ({ comparison, applied: undefined, notApplied });
  const { best, verdict, chosen } = comparison;
  if (chosen !== null) return none(`the candidate ${chosen.planId} was chosen before`);
  if (best === null) return none("no candidate has a result that can be applied");
  if (group.rule === undefined && call.answers === "person")
    return chooseByPerson(app, group, comparison, options, call);
  if (group.rule === undefined && call.answers === "none") return none();
  if (group.rule === "judge" && verdict === null && comparison.candidates.filter(isApplicable).length > 1)
    return none("the judge gave no verdict");
  const checked = comparison.candidates.find(({ planId }) => planId === best)?.checked.outcome;
  // A yes given beforehand does not cover a failed check.
  if (checked === "failed" && call.answers !== "person" && !options.applyAnyway)
    return none("the project's own check failed on the best one; use --apply-anyway to apply it");
  const outcome = await chooseAndApply(app, best, options, call);
  if (outcome.applied) return { ...(await afterwards(app, group)), applied: outcome, notApplied: undefined };
  return none(outcome.why);
}

async function chooseByPerson(
  app: App,
  group: CandidateGroup,
  comparison: ComparisonFacts,
  options: ChoiceOptions,
  call: Call,
): Promise<Chosen> {
  const { candidates, best } = comparison;
  let shown: readonly Shown[] = [{ kind: "comparison", output: comparison }];
  const alternatives = candidates.filter(isApplicable).map(({ candidate }) => String(candidate));
  for (;;) {
    const text = "Which one do you want?";
    const reply = await call.ask({ kind: "choice", text, alternatives, shown });
    const wish = readChoice(reply.kind === "text" ? reply.text : "");
    const place = reply.kind === "yes" ? candidates.findIndex(({ planId }) => planId === best) + 1 : wish.candidate;
    const wanted = candidates.find(({ candidate }) => candidate === place);
    if (wanted === undefined || (!wish.diff && !isApplicable(wanted))) {
      if (reply.kind !== "text") return { comparison, applied: undefined, notApplied: undefined };
      call.tell({ type: "notice", level: "warning", text: `Say one of ${alternatives.join(", ")}.` });
      shown = [];
      continue;
    }
    if (wish.diff) {
      const plan = await (await app.plans()).getPlan(wanted.planId);
      shown = [{ kind: "diff", output: await diffOfPlan(app, plan) }];
      continue;
    }
    const outcome = await chooseAndApply(app, wanted.planId, options, call);
    if (outcome.applied) return { ...(await afterwards(app, group)), applied: outcome, notApplied: undefined };
    shown = [];
  }
}

/** "2", "diff 2", "d2" */
function readChoice(text: string): { readonly candidate: number | undefined; readonly diff: boolean } {
  const [, diff, digits] = /^(d|diff)?\s*(\d{1,2})$/i.exec(text.trim()) ?? [];
  return { candidate: digits === undefined ? undefined : Number(digits), diff: diff !== undefined };
}

async function afterwards(app: App, group: CandidateGroup): Promise<{ readonly comparison: ComparisonFacts }> {
  const { candidateGroupNamed } = await import("../../plans/candidates.ts");
  return { comparison: await compareCandidates(app, await candidateGroupNamed(await app.store(), group.id)) };
}

/** Chooses a candidate and applies it, by the rules that hold for every plan. */
export async function chooseAndApply(
  app: App,
  planId: string,
  options: ChoiceOptions,
  call: Call,
): Promise<Extract<ApplyOutcome, { applied: true }> | { readonly applied: false; readonly why: string | undefined }> {
  const plan = await (await app.plans()).getPlan(planId);
  const agreed = await mayApply(app, plan);
  if (!agreed && call.answers === "none")
    return { applied: false, why: `its profile ${plan.profile.name} asks before a plan is applied` };
  const shown: Shown[] = call.answers === "person" ? [{ kind: "diff", output: await diffOfPlan(app, plan) }] : [];
  const parts = { store: await app.store(), user: await app.user() };
  const onYes = (): Promise<CandidateGroup> => chooseCandidate(parts, plan.id);
  const { verify } = options;
  const applied = await applyPlan(app, plan, { allowEmpty: false, verify, agreed, shown, onYes }, call);
  return applied.applied ? applied : { applied: false, why: undefined };
}
