/**
 * An MCP server over HTTP on this machine with an authorization server of its own, for tests: registration, PKCE,
 * tokens that end when the test says so, and refresh tokens that are accepted once.
 */
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

interface Grant {
  readonly challenge: string;
  readonly redirect: string;
  readonly client: string;
  readonly scope: string;
}

export class LoginServer implements AsyncDisposable {
  readonly #server: Server = createServer((request, response) => void this.#answer(request, response));
  readonly #codes = new Map<string, Grant>();
  /** Each is accepted once. */
  readonly #refreshTokens = new Set<string>();
  readonly #clients = new Set<string>(["own-client"]);
  #accessToken = "";
  /** Without a login: each request must carry this header. */
  key: string | undefined;
  /** The person says no at the page. */
  refuses = false;
  /** How long a renewal takes. */
  renewalMs = 0;
  renewals = 0;
  refusedRenewals = 0;
  registered = 0;
  /** Scopes that it wants: for everything, and for calls of `put` besides. */
  scopes: { readonly all: string; readonly put: string } | undefined;
  /** The scopes for which pages asked. */
  readonly asked: string[] = [];
  #granted = "";
  /** The names of the tools that were called. */
  readonly calls: string[] = [];
  /** More text in each answer. */
  says = "";

  static async listen(): Promise<LoginServer> {
    const made = new LoginServer();
    made.#server.listen(0, "127.0.0.1");
    await once(made.#server, "listening");
    return made;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  /** The access token is not accepted any more. */
  expire(): void {
    this.#accessToken = randomUUID();
  }

  /** No token is accepted any more. */
  revoke(): void {
    this.expire();
    this.#refreshTokens.clear();
  }

  /** As a person does it: opens the page, agrees, and is led back. Returns the text of the last page. */
  async visit(page: string): Promise<string> {
    const answer = await fetch(page, { redirect: "manual" });
    return (await fetch(String(answer.headers.get("location")))).text();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.origin);
    const body = await text(request);
    if (url.pathname === "/mcp") this.#mcp(request, body, response);
    else if (url.pathname.startsWith("/.well-known/oauth-protected-resource"))
      json(response, 200, { resource: this.url, authorization_servers: [this.origin] });
    else if (url.pathname.startsWith("/.well-known/oauth-authorization-server")) json(response, 200, this.#metadata());
    else if (url.pathname === "/register") this.#register(body, response);
    else if (url.pathname === "/authorize") this.#authorize(url.searchParams, response);
    else if (url.pathname === "/token") await this.#token(new URLSearchParams(body), response);
    else json(response, 404, {});
  }

  #metadata(): object {
    return {
      issuer: this.origin,
      authorization_endpoint: `${this.origin}/authorize`,
      token_endpoint: `${this.origin}/token`,
      registration_endpoint: `${this.origin}/register`,
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
    };
  }

  #register(body: string, response: ServerResponse): void {
    const client = randomUUID();
    this.#clients.add(client);
    this.registered += 1;
    json(response, 201, { ...(JSON.parse(body) as object), client_id: client });
  }

  #authorize(params: URLSearchParams, response: ServerResponse): void {
    const client = params.get("client_id") ?? "";
    const back = new URL(params.get("redirect_uri") ?? "http://none.invalid");
    if (!this.#clients.has(client) || params.get("code_challenge_method") !== "S256") {
      json(response, 400, { error: "invalid_request" });
      return;
    }
    back.searchParams.set("state", params.get("state") ?? "");
    const code = randomUUID();
    const challenge = params.get("code_challenge") ?? "";
    const scope = params.get("scope") ?? "";
    this.asked.push(scope);
    this.#codes.set(code, { challenge, client, scope, redirect: params.get("redirect_uri") ?? "" });
    if (this.refuses) back.searchParams.set("error", "access_denied");
    else back.searchParams.set("code", code);
    response.writeHead(302, { location: back.href }).end();
  }

  async #token(params: URLSearchParams, response: ServerResponse): Promise<void> {
    if (params.get("grant_type") === "refresh_token") {
      await new Promise((resolve) => setTimeout(resolve, this.renewalMs));
      this.renewals += 1;
      if (this.#refreshTokens.delete(params.get("refresh_token") ?? "")) this.#issue(response);
      else {
        this.refusedRenewals += 1;
        json(response, 400, { error: "invalid_grant" });
      }
      return;
    }
    const grant = this.#codes.get(params.get("code") ?? "");
    this.#codes.delete(params.get("code") ?? "");
    const proof = createHash("sha256")
      .update(params.get("code_verifier") ?? "")
      .digest("base64url");
    const fits =
      grant?.challenge === proof &&
      grant.redirect === params.get("redirect_uri") &&
      grant.client === params.get("client_id");
    if (fits) this.#granted = grant.scope;
    if (fits) this.#issue(response);
    else json(response, 400, { error: "invalid_grant" });
  }

  #issue(response: ServerResponse): void {
    this.#accessToken = `access-${randomUUID()}`;
    const refresh = `refresh-${randomUUID()}`;
    this.#refreshTokens.add(refresh);
    const tokens = { access_token: this.#accessToken, refresh_token: refresh };
    json(response, 200, { ...tokens, token_type: "Bearer", expires_in: 3600 });
  }

  #mcp({ method, headers }: IncomingMessage, body: string, response: ServerResponse): void {
    const { key } = this;
    if (key === undefined ? headers.authorization !== `Bearer ${this.#accessToken}` : headers["x-key"] !== key) {
      const where = `Bearer resource_metadata="${this.origin}/.well-known/oauth-protected-resource/mcp"`;
      const scope = this.scopes === undefined ? "" : `, scope="${this.scopes.all}"`;
      response.writeHead(401, key === undefined ? { "www-authenticate": where + scope } : {}).end();
      return;
    }
    if (this.scopes !== undefined && body.includes('"put"') && !this.#granted.split(" ").includes(this.scopes.put)) {
      const wanted = `Bearer error="insufficient_scope", scope="${this.scopes.put}"`;
      response.writeHead(403, { "www-authenticate": wanted }).end();
      return;
    }
    if (method !== "POST") {
      response.writeHead(405).end();
      return;
    }
    const { id, method: asked, params } = JSON.parse(body) as { id?: number; method: string; params?: Asked };
    if (id === undefined) response.writeHead(202).end();
    else json(response, 200, { jsonrpc: "2.0", id, ...this.#result(asked, params) });
  }

  #result(asked: string, params: Asked | undefined): object {
    switch (asked) {
      case "initialize": {
        const capabilities = { tools: {}, prompts: {}, resources: {} };
        const serverInfo = { name: "login", version: "1" };
        return { result: { protocolVersion: "2025-11-25", capabilities, serverInfo } };
      }
      case "tools/list":
        return { result: { tools: ["look", "put"].map((name) => ({ name, inputSchema: { type: "object" } })) } };
      case "prompts/list":
        return { result: { prompts: [] } };
      case "resources/list":
        return { result: { resources: [{ uri: "mem://a", name: "a", description: this.says }] } };
      case "resources/read":
        return { result: { contents: [{ uri: "mem://a", text: `content ${this.says}` }] } };
      case "tools/call":
        this.calls.push(params?.name ?? "");
        return {
          result: {
            content: [{ type: "text", text: `called ${params?.name} ${this.says}` }],
            structuredContent: { said: this.says },
          },
        };
      default:
        return { error: { code: -32_601, message: "no such method" } };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

interface Asked {
  readonly name?: string;
}

function json(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}
