/**
 * Reads one page of the web for a plan. A model may have taken the address from anywhere, so it leads only to public
 * addresses: checked where a name is resolved for the connection itself, so that a name cannot change its mind between
 * the check and the connection, and again for each redirect. Private hosts must be named by the user.
 */
import { lookup, type LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { isForbiddenHost, isPrivateHost } from "../domain/network/endpoint-address.ts";
import { AgentsError } from "../domain/errors/errors.ts";
import { maskedText } from "./masking.ts";

interface WebPage {
  /** Where it was found in the end. */
  readonly url: string;
  /** Such as `text/html`. */
  readonly type: string;
  readonly text: string;
}

export type ReadPage = (url: string, signal: AbortSignal) => Promise<WebPage>;

/** Limits that no setting can raise. */
export interface PageLimits {
  readonly totalMs: number;
  readonly bytes: number;
}
const LIMITS: PageLimits = { totalMs: 30_000, bytes: 5 * 1024 * 1024 };
const REDIRECTS = 5;
const TEXT_TYPE = /^(?:text\/|application\/(?:.*\+)?(?:json|xml|xhtml|javascript|yaml|toml)\b)/;

/** `privateHosts`: as host or host:port. */
export function pageReader(
  privateHosts: ReadonlySet<string>,
  limits: PageLimits = LIMITS,
  resolve: Resolve = resolveAll,
): ReadPage {
  return async (given, signal) => {
    const timeout = AbortSignal.timeout(limits.totalMs);
    const both = AbortSignal.any([signal, timeout]);
    try {
      return await read(given, { privateHosts, limits, resolve, signal: both });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AgentsError) throw error;
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      if (cause instanceof AgentsError) throw cause;
      const why = timeout.aborted ? `it did not answer within ${limits.totalMs / 1000} s` : messageOf(cause);
      throw pageError(given, `could not be read: ${why}`);
    }
  };
}

interface Reading {
  readonly privateHosts: ReadonlySet<string>;
  readonly limits: PageLimits;
  readonly resolve: Resolve;
  readonly signal: AbortSignal;
}

async function read(given: string, reading: Reading): Promise<WebPage> {
  const { default: undici } = await import("undici");
  let url = allowedUrl(given, reading);
  for (let redirects = 0; ; redirects += 1) {
    const named = isNamed(url, reading);
    const dispatcher = new undici.Agent({ connect: { lookup: lookupFor(reading, named) } });
    try {
      const response = await undici.fetch(url.href, {
        dispatcher,
        redirect: "manual",
        signal: reading.signal,
        headers: { accept: "text/html, text/plain, application/json, text/*;q=0.9", "user-agent": "cleveragents" },
      });
      const location = response.status >= 300 && response.status < 400 ? response.headers.get("location") : null;
      if (location === null) return await pageOf(url, response, reading);
      if (redirects === REDIRECTS) throw pageError(given, `leads on more than ${REDIRECTS} times`);
      url = allowedUrl(URL.canParse(location, url.href) ? new URL(location, url.href).href : location, reading);
    } finally {
      await dispatcher.destroy();
    }
  }
}

interface Answer {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
}

async function pageOf(url: URL, response: Answer, { limits }: Reading): Promise<WebPage> {
  if (!response.ok) throw pageError(url.href, `answers ${response.status}`);
  const [type = ""] = (response.headers.get("content-type") ?? "text/plain").toLowerCase().split(";");
  if (!TEXT_TYPE.test(type.trim())) throw pageError(url.href, `is ${type.trim()}; only text can be read`);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > limits.bytes) throw pageError(url.href, `is longer than ${limits.bytes} bytes`);
    pieces.push(piece);
  }
  return { url: url.href, type: type.trim(), text: Buffer.concat(pieces).toString("utf8") };
}

function allowedUrl(given: string, reading: Reading): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw pageError(given, "is not an address that begins with https:// or http://");
  if (url.username !== "" || url.password !== "") throw pageError(url.origin, "must not hold a name or a password");
  // Reading an address tells its server what is in it.
  if (maskedText(url.href) !== url.href || maskedText(decoded(url.href)) !== decoded(url.href))
    throw pageError(given, "holds a secret, which its server would learn");
  if (isForbiddenHost(url.hostname) || (isPrivateHost(url.hostname) && !isNamed(url, reading)))
    throw privateError(url.host);
  return url;
}

function isNamed({ hostname, host }: URL, { privateHosts }: Reading): boolean {
  return privateHosts.has(host) || privateHosts.has(hostname);
}

/** All addresses of a name. */
export type Resolve = (hostname: string, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;

function resolveAll(hostname: string, done: Parameters<Resolve>[1]): void {
  lookup(hostname, { all: true }, (error, addresses) => done(error, addresses ?? []));
}

/** The connection itself asks here, so the address that was checked is the one that is used. */
function lookupFor({ resolve }: Reading, named: boolean): LookupFunction {
  return (hostname, options, done) =>
    resolve(hostname, (error, addresses) => {
      const wrong = addresses.find(({ address }) => (named ? isForbiddenHost(address) : isPrivateHost(address)));
      const refused = error ?? (wrong === undefined ? null : privateError(`${hostname} (${wrong.address})`));
      const [first] = addresses;
      if (refused !== null || options.all === true || first === undefined) done(refused, addresses);
      else done(null, first.address, first.family);
    });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function privateError(host: string): AgentsError {
  return new AgentsError(
    "tool_failed",
    `${host} is not an address of the internet, and is not read: web.private-hosts does not name it.`,
  );
}

function pageError(url: string, why: string): AgentsError {
  return new AgentsError("tool_failed", maskedText(`${url.slice(0, 500)} ${why}.`));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
