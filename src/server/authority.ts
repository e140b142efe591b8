/**
 * Who may come in: the tokens of the store, and one of this process for the user who started it, which ends with it.
 * There is no switch that lets a request in without a token.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { CleverAgents } from "../app/open.ts";
import { AgentsError } from "../domain/errors/errors.ts";
import type { Bearer } from "./bearer.ts";

/** Wrong tokens from one address in one window; then all its tokens are refused until the window ends. */
const MOST_FAILURES = 20;
const WINDOW_MS = 60_000;
/** Addresses that are remembered; the oldest are forgotten first. */
const MOST_ADDRESSES = 10_000;

interface Failures {
  readonly until: number;
  readonly count: number;
}

export class Authority {
  readonly #agents: CleverAgents;
  readonly #clock: () => number;
  readonly #failures = new Map<string, Failures>();
  /** For the same user's commands; never stored, so that it ends with the process. */
  readonly localToken: string = `ca_local_${randomBytes(32).toString("base64url")}`;

  constructor(agents: CleverAgents, clock: () => number = Date.now) {
    this.#agents = agents;
    this.#clock = clock;
  }

  /** The bearer of the header's token; an error for every other request. */
  async identify(header: string | undefined, address: string): Promise<Bearer> {
    if (header === undefined) throw unauthenticatedError("has no token");
    this.#requirePatience(address);
    const [, token = ""] = /^bearer +(\S+) *$/i.exec(header) ?? [];
    const bearer = await this.check(token);
    if (bearer !== undefined) return bearer;
    this.#count(address);
    throw unauthenticatedError("has a token that is not valid");
  }

  /** Undefined when the token is none, revoked or expired. */
  async check(token: string): Promise<Bearer | undefined> {
    if (isSame(token, this.localToken)) return { tokenId: "local", role: "owner", user: undefined };
    const found = await this.#agents.run("server.token.check", { token });
    if (!found.valid) return undefined;
    const { tokenId, name, role } = found;
    return { tokenId, role, user: `${name} (token ${tokenId})` };
  }

  #requirePatience(address: string): void {
    const failures = this.#failures.get(address);
    if (failures === undefined || failures.count < MOST_FAILURES) return;
    const seconds = Math.ceil((failures.until - this.#clock()) / 1000);
    if (seconds <= 0) return void this.#failures.delete(address);
    throw new AgentsError("too_many_attempts", "Too many wrong tokens came from this address.", {
      kept: "Nothing was changed.",
      next: [{ text: `wait ${seconds} s` }],
      detail: { retry_after_seconds: seconds },
    });
  }

  #count(address: string): void {
    const now = this.#clock();
    const before = this.#failures.get(address);
    const fresh = before === undefined || before.until <= now;
    // Put at the end, so that the oldest come first.
    this.#failures.delete(address);
    this.#failures.set(address, fresh ? { until: now + WINDOW_MS, count: 1 } : { ...before, count: before.count + 1 });
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > MOST_ADDRESSES && oldest !== undefined) this.#failures.delete(oldest);
  }
}

function isSame(given: string, wanted: string): boolean {
  return timingSafeEqual(digest(given), digest(wanted));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function unauthenticatedError(why: string): AgentsError {
  return new AgentsError("not_authenticated", `The request ${why}.`, {
    kept: "Nothing was changed.",
    next: [{ text: "send Authorization: Bearer <token>; an owner makes tokens by agents server token create" }],
  });
}
