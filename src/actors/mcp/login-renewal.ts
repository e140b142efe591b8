/**
 * Renews the tokens of a login. Many servers accept a refresh token once: of two processes that renew at the same time,
 * one would end up with a refused token and forget the good one of the other. So a renewal is sent under the lock of
 * the login, its answer is kept before the lock is left, and the next one finds it instead of asking again.
 */
import type { StoredOAuthTokens } from "@modelcontextprotocol/client";
import { isJsonObject, type JsonValue } from "../../domain/values/json.ts";
import type { LoginStore } from "./server-login.ts";

/** One that takes longer is given up; others wait for it. */
const RENEWAL_MS = 20_000;

/** The same as `send`, besides requests for new tokens. */
export function renewingFetch(send: typeof fetch, store: LoginStore): typeof fetch {
  const refused = new Set<string>();
  return async (input, init) => {
    const body = init?.body;
    const isRenewal = body instanceof URLSearchParams && body.get("grant_type") === "refresh_token";
    if (!isRenewal) {
      const response = await send(input, init);
      const sent = new Headers(init?.headers).get("authorization");
      if (response.status === 401 && sent !== null) refused.add(sent);
      return response;
    }
    const used = body.get("refresh_token");
    let answer: Response | undefined;
    await store.change(async (kept) => {
      const tokens = kept?.tokens;
      if (tokens === undefined) {
        answer = Response.json({ error: "invalid_grant", error_description: "logged out" }, { status: 400 });
        return undefined;
      }
      // Another process renewed them since the server refused ours; maybe before the client read them for this request.
      const isNewer = refused.size > 0 && !refused.has(`Bearer ${tokens.access_token}`);
      if (tokens.refresh_token !== used || isNewer) {
        answer = Response.json(tokens);
        return undefined;
      }
      answer = await send(input, { ...init, signal: AbortSignal.timeout(RENEWAL_MS) });
      const renewed = answer.ok ? tokensIn((await answer.clone().json()) as JsonValue, used ?? "") : undefined;
      return renewed === undefined ? undefined : { ...kept, tokens: { ...issuerOf(tokens), ...renewed } };
    });
    if (answer === undefined) throw new Error("the login could not be read");
    return answer;
  };
}

function issuerOf({ issuer }: StoredOAuthTokens): { readonly issuer?: string } {
  return issuer === undefined ? {} : { issuer };
}

/** A server that sends no new refresh token means the old one. */
function tokensIn(answer: JsonValue, used: string): StoredOAuthTokens | undefined {
  if (!isJsonObject(answer) || typeof answer["access_token"] !== "string") return undefined;
  return { refresh_token: used, ...answer } as unknown as StoredOAuthTokens;
}
