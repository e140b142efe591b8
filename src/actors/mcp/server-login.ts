/**
 * The login at an MCP server that asks for one: OAuth with PKCE and a redirect to this machine, as the official client
 * carries it out. Only `loginAt` ever leads a person to a page. A plan uses the tokens that a login left, has them
 * renewed, and fails with the command to run when that is not enough.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { AgentsError } from "../../domain/errors/errors.ts";
import { clientSdk } from "./client-sdk.ts";
import { oneLine } from "./server-text.ts";

/** The part of a login that is kept. */
export interface KeptLogin {
  readonly client?: StoredOAuthClientInformation | undefined;
  readonly tokens?: StoredOAuthTokens | undefined;
  readonly discovery?: OAuthDiscoveryState | undefined;
  /** The scope that a call needed and the tokens did not have: the next login asks for it. */
  readonly wantedScope?: string | undefined;
}

/** Where a login is kept. It is read each time, because another process may have renewed it. */
export interface LoginStore {
  read(): KeptLogin | undefined;
  /**
   * Changes it while no other process can; undefined leaves it as it is. A change may ask the server for new tokens:
   * the others wait, and find them.
   */
  change(change: (kept: KeptLogin | undefined) => Promise<KeptLogin | undefined>): Promise<void>;
}

const CLIENT_NAME = "CleverAgents";

class KeptProvider implements OAuthClientProvider {
  readonly redirectUrl: string | undefined;
  readonly #store: LoginStore;
  readonly #redirect: (url: URL) => void | Promise<void>;
  readonly #state: string;
  #login: KeptLogin;
  #verifier = "";
  /** The access token that was used last. */
  #used: string | undefined;

  constructor(parts: {
    store: LoginStore;
    redirectUrl: string | undefined;
    redirect: (url: URL) => void | Promise<void>;
    state?: string;
    fresh?: KeptLogin;
  }) {
    this.#store = parts.store;
    this.redirectUrl = parts.redirectUrl;
    this.#redirect = parts.redirect;
    this.#state = parts.state ?? "";
    this.#login = parts.fresh ?? {};
    this.#isFresh = parts.fresh !== undefined;
  }

  readonly #isFresh: boolean;

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: CLIENT_NAME,
      redirect_uris: this.redirectUrl === undefined ? [] : [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
  }

  state(): string {
    return this.#state;
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.#now().client;
  }

  async saveClientInformation(client: StoredOAuthClientInformation): Promise<void> {
    await this.#keep({ client });
  }

  tokens(): StoredOAuthTokens | undefined {
    const { tokens } = this.#now();
    this.#used = tokens?.access_token;
    return tokens;
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    if (this.#isFresh) await this.#keep({ tokens });
    // Renewed tokens are kept where they come in (login-renewal.ts). Newer ones, or a logout, are not undone.
    else
      await this.#store.change(async (kept) =>
        kept?.tokens?.access_token === tokens.access_token ? { ...kept, tokens } : undefined,
      );
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#now().discovery;
  }

  async saveDiscoveryState(discovery: OAuthDiscoveryState): Promise<void> {
    await this.#keep({ discovery });
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    await this.#redirect(url);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  async invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): Promise<void> {
    const all = scope === "all";
    const without = {
      ...(all || scope === "client" ? { client: undefined } : {}),
      ...(all || scope === "tokens" ? { tokens: undefined } : {}),
      ...(all || scope === "discovery" ? { discovery: undefined } : {}),
    };
    if (this.#isFresh) await this.#keep(without);
    // The server refused the tokens that were used; those that another process got since then are not affected.
    else
      await this.#store.change(async (kept) =>
        kept !== undefined && (kept.tokens === undefined || kept.tokens.access_token === this.#used)
          ? { ...kept, ...without }
          : undefined,
      );
  }

  #now(): KeptLogin {
    return this.#isFresh ? this.#login : (this.#store.read() ?? {});
  }

  /** A login that is not complete yet replaces nothing. */
  async #keep(more: KeptLogin): Promise<void> {
    if (!this.#isFresh) {
      await this.#store.change(async (kept) => (kept === undefined ? undefined : { ...kept, ...more }));
      return;
    }
    this.#login = { ...this.#login, ...more };
    if (this.#login.tokens !== undefined) await this.#store.change(async () => this.#login);
  }
}

/** For plans: the tokens of an earlier login. Undefined when there was none. */
export function keptProvider(store: LoginStore, loginError: () => AgentsError): OAuthClientProvider | undefined {
  if (store.read()?.tokens === undefined) return undefined;
  const redirect = async (url: URL): Promise<never> => {
    const scope = url.searchParams.get("scope");
    if (scope !== null)
      await store.change(async (kept) => (kept === undefined ? undefined : { ...kept, wantedScope: scope }));
    throw loginError();
  };
  // Never visited: `redirect` comes first.
  return new KeptProvider({ store, redirectUrl: "http://127.0.0.1/", redirect });
}

export interface LoginOptions {
  readonly url: string;
  readonly fetch: typeof fetch;
  readonly store: LoginStore;
  /** Shows the page at which the person logs in. */
  readonly open: (url: URL) => void;
  readonly signal: AbortSignal;
  /** A client that the person registered, for servers that register none themselves. */
  readonly client?: { readonly id: string; readonly secret?: string | undefined } | undefined;
  /** The port to which the page leads back; any free one unless given. */
  readonly port?: number | undefined;
  readonly timeoutMs?: number;
}

const LOGIN_MS = 300_000;

export async function loginAt(options: LoginOptions): Promise<void> {
  const { auth, computeScopeUnion } = await clientSdk();
  const { url: serverUrl, fetch: fetchFn, store, client } = options;
  const { wantedScope } = store.read() ?? {};
  const state = randomBytes(24).toString("base64url");
  await using back = await Callback.listen(options.port ?? 0, state);
  const provider = new KeptProvider({
    store,
    redirectUrl: back.url,
    redirect: options.open,
    state,
    fresh: { wantedScope, ...(client === undefined ? {} : { client: clientInformation(client) }) },
  });
  try {
    const { resourceMetadataUrl, scope: asked } = await challengeOf(options);
    const scope = computeScopeUnion(wantedScope, asked);
    const about = { serverUrl, fetchFn, ...(scope === undefined ? {} : { scope }) };
    if ((await auth(provider, { ...about, ...resourceMetadataUrl })) === "AUTHORIZED") return;
    const timeout = AbortSignal.timeout(options.timeoutMs ?? LOGIN_MS);
    const { code, iss } = await back.answer(AbortSignal.any([options.signal, timeout]));
    await auth(provider, { ...about, authorizationCode: code, ...(iss === null ? {} : { iss }) });
  } catch (error) {
    options.signal.throwIfAborted();
    if (error instanceof AgentsError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new AgentsError("tool_failed", `The login did not work: ${oneLine(why)}`, {
      cause: error,
      kept: "An earlier login was left as it is.",
    });
  }
}

function clientInformation({ id, secret }: NonNullable<LoginOptions["client"]>): StoredOAuthClientInformation {
  return { client_id: id, ...(secret === undefined ? {} : { client_secret: secret }) };
}

interface Challenge {
  readonly resourceMetadataUrl: { readonly resourceMetadataUrl?: URL };
  readonly scope: string | undefined;
}

const CHALLENGE_MS = 15_000;
const NEWEST = "2026-07-28";

/**
 * The server's answer to a question without a login says where its authorization is described, and for which scope to
 * ask. A server that says neither is asked at the usual places.
 */
async function challengeOf({ url, fetch: send, signal }: LoginOptions): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await clientSdk();
  const [method, prefix] = ["tools/list", "io.modelcontextprotocol/"];
  const about = {
    [`${prefix}protocolVersion`]: NEWEST,
    [`${prefix}clientInfo`]: { name: "cleveragents", version: "0" },
    [`${prefix}clientCapabilities`]: {},
  };
  const response = await send(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": NEWEST,
      "mcp-method": method,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { _meta: about } }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(CHALLENGE_MS)]),
  });
  await response.body?.cancel();
  const { resourceMetadataUrl, scope } = response.status === 401 ? extractWWWAuthenticateParams(response) : {};
  return { resourceMetadataUrl: resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }, scope };
}

/** Hears on this machine how the login ended. */
class Callback implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;
  readonly #answer = Promise.withResolvers<URLSearchParams>();

  private constructor(server: Server, state: string) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
    server.on("request", (request, response) => {
      const given = new URL(request.url ?? "/", this.url);
      const fits = given.pathname === "/callback" && isSame(given.searchParams.get("state") ?? "", state);
      response.writeHead(fits ? 200 : 400, { "content-type": "text/plain; charset=utf-8", connection: "close" });
      response.end(fits ? "You can close this page and go back to the terminal.\n" : "This is not the login.\n");
      if (fits) this.#answer.resolve(given.searchParams);
    });
  }

  static async listen(port: number, state: string): Promise<Callback> {
    const server = createServer();
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return new Callback(server, state);
  }

  async answer(signal: AbortSignal): Promise<{ readonly code: string; readonly iss: string | null }> {
    const over = new Promise<never>((_, reject) => {
      const end = (): void =>
        reject(new AgentsError("tool_failed", "No one logged in.", { kept: "An earlier login was left as it is." }));
      if (signal.aborted) end();
      signal.addEventListener("abort", end, { once: true });
    });
    const params = await Promise.race([this.#answer.promise, over]);
    const code = params.get("code");
    if (code !== null) return { code, iss: params.get("iss") };
    const why = params.get("error_description") ?? params.get("error") ?? "it sent no code";
    throw new AgentsError("tool_failed", `The server refused the login: ${oneLine(why)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
