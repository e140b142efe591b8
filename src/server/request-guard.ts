/**
 * A page that a browser has open can send requests to this machine, and by a name of its own that leads here (DNS
 * rebinding) it could read the answers. So a request must name this server in its Host, and where a browser says which
 * page sends it (Origin), that page must be of this server too.
 */
import { isIP } from "node:net";
import { AgentsError } from "../domain/errors/errors.ts";

export interface HostRule {
  /** Names and addresses in lower case, without ports. */
  readonly names: ReadonlySet<string>;
  /** Any address, spelled as numbers: a name cannot be made to lead here then. */
  readonly addresses: boolean;
  /** On a socket of the file system there is no Host to be trusted; a browser cannot reach it. */
  readonly socket: boolean;
}

const LOOPBACK = ["localhost", "127.0.0.1", "::1"];

export function hostRule(parts: { readonly host: string | undefined; readonly allowed: readonly string[] }): HostRule {
  const { host, allowed } = parts;
  const names = new Set(
    [...LOOPBACK, ...allowed, ...(host === undefined ? [] : [host])].map((one) => one.toLowerCase()),
  );
  return { names, addresses: host !== undefined && !isLoopback(host), socket: host === undefined };
}

export function isLoopback(host: string): boolean {
  return LOOPBACK.includes(host.toLowerCase()) || /^127(\.\d{1,3}){3}$/.test(host);
}

export function requireOwnHost(
  { host, origin }: { readonly host: string | undefined; readonly origin: string | undefined },
  rule: HostRule,
): void {
  if (!rule.socket && !isKnown(nameOf(`http://${host ?? ""}`), rule))
    throw foreignError("Host", "names another server; it may be allowed by --allow-host");
  if (origin !== undefined && !isKnown(nameOf(origin), rule))
    throw foreignError("Origin", "names a page of another server");
}

function isKnown(name: string | undefined, { names, addresses }: HostRule): boolean {
  return name !== undefined && (names.has(name) || (addresses && isIP(name) !== 0));
}

/** The name without the port; undefined for a text that has none. */
function nameOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  return new URL(url).hostname.toLowerCase().replaceAll(/^\[|\]$/g, "");
}

function foreignError(header: string, why: string): AgentsError {
  return new AgentsError("not_allowed", `The ${header} of the request ${why}.`, { kept: "Nothing was changed." });
}
