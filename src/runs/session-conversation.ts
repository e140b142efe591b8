/**
 * How a plan of a session knows what came before it. Where the same model goes on, its conversation continues with the
 * same bytes, and it is told only what became of the earlier plans since. Everywhere else (another model, a graph, an
 * agent of another maker, steps side by side) the plan begins with a handover: requests, answers, outcomes.
 */
import { shortRef } from "../apply/git-target.ts";
import type { ModelRef } from "../actors/models/model.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { SessionPlan } from "../domain/plan/session.ts";
import { git } from "../git/git.ts";
import { findSandboxRecords } from "../ledger/sandbox-records.ts";
import type { Reader, Store } from "../store/port.ts";
import { findPlan } from "../store/tables/plans.ts";
import { sessionOfPlan, sessionPlans } from "../store/tables/sessions.ts";
import { conversationEnd, conversationUpTo, type ConversationEnd } from "./conversation.ts";
import { turnAt, type SessionTurn } from "./session-turns.ts";

export interface SessionBefore {
  /** For the plan's model, in front of its goal; empty for the first plan of a session. */
  readonly text: string;
  /** The conversation that it continues. */
  readonly continues: ConversationEnd | undefined;
}

/** Characters of all that is told of a session, of one answer, and paths that changed. */
const LONGEST_HANDOVER = 24_000;
const LONGEST_ANSWER = 2_000;
const MOST_PATHS = 20;

const NEW_SANDBOX =
  "You work in a new sandbox, made from the user's files as they are now. Read a file again before you rely on what you saw of it.";

/** For a model that may continue the conversation of an earlier plan. */
export async function sessionBefore(store: Store, plan: Plan, model: ModelRef): Promise<SessionBefore> {
  const places = await store.read((reader) => placesBefore(reader, plan));
  for (const [index, place] of [...places.entries()].toReversed()) {
    const end = await store.read((reader) => endAt(reader, place));
    const conversation = end === undefined ? undefined : await conversationUpTo(store, end);
    if (end === undefined || conversation === undefined) continue;
    if (conversation.model.provider !== model.provider || conversation.model.model !== model.model) continue;
    const known = await turnAt(store, place);
    const later = await turnsAt(store, places.slice(index + 1));
    const parts = [`Of "${lastRequest(known)}": ${outcomeOf(known)}`, ...later.map(toldTurn)];
    return { text: await closed(store, plan, parts, later.at(-1) ?? known), continues: end };
  }
  return { text: await handover(store, plan, places), continues: undefined };
}

/** For a conversation that begins from nothing; empty for a plan that is part of no session, and for the first one. */
export async function sessionHandover(store: Store, plan: Plan): Promise<string> {
  return handover(store, plan, await store.read((reader) => placesBefore(reader, plan)));
}

async function handover(store: Store, plan: Plan, places: readonly SessionPlan[]): Promise<string> {
  const turns = await turnsAt(store, places);
  const last = turns.at(-1);
  if (last === undefined) return "";
  const parts: string[] = [];
  let size = 0;
  for (const [index, turn] of [...turns.entries()].toReversed()) {
    const told = toldTurn(turn);
    size += told.length;
    if (size > LONGEST_HANDOVER && parts.length > 0) {
      parts.unshift(`${index + 1} earlier ${index === 0 ? "request is" : "requests are"} left out here.`);
      break;
    }
    parts.unshift(told);
  }
  return closed(store, plan, parts, last);
}

async function closed(store: Store, plan: Plan, parts: readonly string[], last: SessionTurn): Promise<string> {
  const changed = await changedSince(store, plan, last);
  const others = changed.length === 0 ? [] : [`Changed since then by others: ${listed(changed)}.`];
  return [...parts, ...others, NEW_SANDBOX].join("\n\n");
}

/** The plans of the session before this one, in their order. */
async function placesBefore(reader: Reader, plan: Plan): Promise<SessionPlan[]> {
  const session = await sessionOfPlan(reader, plan.id);
  if (session === undefined) return [];
  const places = await sessionPlans(reader, session.id);
  return places.slice(
    0,
    places.findIndex(({ planId }) => planId === plan.id),
  );
}

async function endAt(reader: Reader, { planId, shared }: SessionPlan): Promise<ConversationEnd | undefined> {
  if (shared !== undefined) return shared.answer === undefined ? undefined : { plan: planId, answer: shared.answer };
  const plan = await findPlan(reader, planId);
  return plan === undefined ? undefined : conversationEnd(reader, plan);
}

async function turnsAt(store: Store, places: readonly SessionPlan[]): Promise<SessionTurn[]> {
  const turns: SessionTurn[] = [];
  for (const place of places) turns.push(await turnAt(store, place));
  return turns;
}

function toldTurn(turn: SessionTurn): string {
  const said = turn.exchanges.flatMap(({ request, answer }) => [
    `The user asked: ${request}`,
    ...(answer === undefined ? [] : [`The answer: ${cut(answer)}`]),
  ]);
  const remarks = turn.remarks.map(({ question, text }) =>
    question === undefined
      ? `The user said on the way: ${text}`
      : `To the question "${question}" the user said: ${text}`,
  );
  return [...said.slice(0, 1), ...remarks, ...said.slice(1), `The outcome: ${outcomeOf(turn)}`].join("\n");
}

function lastRequest({ exchanges }: SessionTurn): string {
  return cut(exchanges.at(-1)?.request ?? "", 200);
}

function outcomeOf({ standing, plan, diff, landings }: SessionTurn): string {
  const files = diff.files.length === 0 ? "" : ` It changed ${listed(diff.files.map(({ path }) => path))}.`;
  const commits = landings.flatMap(({ git: landed }) => (landed === undefined ? [] : [landed.newCommit.slice(0, 12)]));
  const made = landings.flatMap(({ git: landed }) => (landed?.created === true ? [shortRef(landed.ref)] : []));
  switch (standing) {
    case "applied":
      if (made.length > 0)
        return `applied to the new branch ${made.join(", ")} as commit ${commits.join(", ")}: its changes are in the files only if that branch was merged.${files}`;
      return `applied to the user's files${commits.length === 0 ? "" : ` as commit ${commits.join(", ")}`}.${files}`;
    case "undone":
      return `applied and then undone by the user: its changes are not in the files any more.${files}`;
    case "cancelled":
      return `cancelled${plan.cancelReason === undefined ? "" : ` (${plan.cancelReason})`}: its changes are not in the files.${files}`;
    case "answered":
      return "it needed no change.";
    case "not started":
    case "not chosen":
    case "working":
    case "waiting for you":
    case "stopped":
    case "ready to review":
      return `not applied: its changes are not in the files.${files}`;
  }
}

/**
 * Paths that are different from how the turn left them, in the repositories it worked on: by people and other plans.
 * Nothing is said where git does not know the commit any more.
 */
async function changedSince(store: Store, plan: Plan, last: SessionTurn): Promise<string[]> {
  const { now, earlier } = await store.read(async (reader) => ({
    now: await findSandboxRecords(reader, plan.id, plan.attempt),
    earlier: await findSandboxRecords(reader, last.plan.id, last.place.shared?.attempt ?? last.plan.attempt),
  }));
  const applied = last.standing === "applied";
  const paths: string[] = [];
  for (const { alias, path, baseCommit } of now) {
    const landed = last.landings.find((landing) => landing.alias === alias)?.git?.newCommit;
    const base = earlier.find((record) => record.alias === alias)?.baseCommit;
    const before = applied ? (landed ?? base) : base;
    if (before === undefined || baseCommit === undefined || before === baseCommit) continue;
    const { code, stdout } = await git(["diff", "--name-only", "-z", before, baseCommit], { cwd: path, accept: "any" });
    if (code === 0) paths.push(...stdout.toString("utf8").split("\0").filter(Boolean));
  }
  return paths;
}

function listed(paths: readonly string[]): string {
  const more = paths.length > MOST_PATHS ? ` and ${paths.length - MOST_PATHS} more` : "";
  return `${paths.slice(0, MOST_PATHS).join(", ")}${more}`;
}

function cut(text: string, longest: number = LONGEST_ANSWER): string {
  return text.length <= longest ? text : `${text.slice(0, longest).toWellFormed()}…`;
}
