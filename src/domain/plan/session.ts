/**
 * A session is a conversation over several plans of one project. It holds no copy of what was said: requests, answers,
 * decisions and changes are the records of its plans, and the session is their order.
 */
import type { DecisionId, PlanId, SessionId } from "../names/ids.ts";
import type { QualifiedName } from "../names/qualified-name.ts";

export interface Session {
  readonly id: SessionId;
  /** 1, 2, 3 …: a short name for people that never changes. */
  readonly number: number;
  /** Goes up with everything that is said in it: two processes that saw the same one cannot both continue it. */
  readonly version: number;
  /** The first request, in a line. */
  readonly title: string;
  readonly project: QualifiedName;
  /** Where its first request was made, on the machine `host`. */
  readonly directory: string;
  readonly host: string;
  readonly createdAt: number;
  readonly toldAt: number;
  readonly forkedFrom: SessionId | undefined;
}

/** A plan at its place in a session. */
export interface SessionPlan {
  /** 1, 2, 3 … */
  readonly position: number;
  readonly planId: PlanId;
  /** Of a plan that belongs to the session this one was forked from: how much of it is part of this session. */
  readonly shared: SharedPart | undefined;
}

/** The part of another session's plan that a fork has: all up to the moment at which it was forked. */
export interface SharedPart {
  readonly attempt: number;
  /** The plan's last decision at that moment, by its number. */
  readonly decisions: number;
  /** The model's last answer, with which the conversation continues. */
  readonly answer: DecisionId | undefined;
}

/** Characters of a title. */
const LONGEST_TITLE = 200;

export function sessionTitle(request: string): string {
  const [line = ""] = request.trim().split(/\r?\n/, 1);
  return line.length <= LONGEST_TITLE ? line : `${line.slice(0, LONGEST_TITLE - 1).toWellFormed()}…`;
}
