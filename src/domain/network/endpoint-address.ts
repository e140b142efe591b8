import { isIP } from "node:net";

/**
 * Where an endpoint is: on this machine or its own network, elsewhere, or at an address to which nothing may be sent.
 * Such addresses are those of the machine's own network card (link-local): clouds answer there, to everything that runs
 * on the machine, with its credentials. Names come as `URL` writes them, which turns every spelling of an IPv4 address
 * (decimal, octal, hexadecimal) into the usual one.
 */
const METADATA_NAMES = new Set([
  "metadata",
  "metadata.google.internal",
  "metadata.goog",
  "instance-data",
  "instance-data.ec2.internal",
]);
/** Outside of the link-local networks, but of the same kind: Alibaba, Oracle, Azure, AWS. */
const METADATA_ADDRESSES = new Set([
  "100.100.100.200",
  "192.0.0.192",
  "168.63.129.16",
  "fd00:ec2::254",
  "fd20:ce::254",
]);

/** On this machine or its own network: what is sent there stays there. */
export function isLocalHost(hostname: string): boolean {
  const host = plainHost(hostname);
  if (isForbiddenHost(host)) return false;
  const address = addressOf(host);
  if (address === undefined) return host === "localhost" || /\.(?:localhost|local|lan|internal|home\.arpa)$/.test(host);
  if (address.includes(":")) return address === "::1" || /^f[cd]/.test(address);
  return /^(?:127|10)\.|^192\.168\.|^172\.(?:1[6-9]|2\d|3[01])\./.test(address);
}

/** Nothing is sent there, no matter which actor asks for it. */
export function isForbiddenHost(hostname: string): boolean {
  const host = plainHost(hostname);
  if (METADATA_NAMES.has(host)) return true;
  const address = addressOf(host);
  if (address === undefined) return false;
  if (METADATA_ADDRESSES.has(address)) return true;
  return address.includes(":") ? /^fe[89ab]/.test(address) : address.startsWith("169.254.");
}

/** Without brackets, the zone of an address, and the dot that may end a name. */
function plainHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/%.*$/, "")
    .replace(/\.$/, "");
}

/** The address a host is, one of IPv4 also where it is wrapped into one of IPv6; undefined for a name. */
function addressOf(host: string): string | undefined {
  if (isIP(host) === 0) return undefined;
  if (isIP(host) === 4) return host;
  const normal = new URL(`http://[${host}]`).hostname.slice(1, -1);
  // Mapped and compatible addresses, NAT64, 6to4.
  const [, high = "", low = ""] =
    /^(?:::(?:ffff:(?:0:)?)?|64:ff9b::|2002:)([0-9a-f]{1,4}):([0-9a-f]{1,4})(?:$|::)/.exec(normal) ?? [];
  if (high === "") return normal;
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 255, second >> 8, second & 255].join(".");
}

/**
 * Not an address of the internet: this machine, its own networks, a provider's inner ones, multicast, and what is kept
 * for tests and documents. A name is none of these by itself; the addresses it leads to may be.
 */
export function isPrivateHost(hostname: string): boolean {
  const host = plainHost(hostname);
  if (isForbiddenHost(host) || isLocalHost(host)) return true;
  const address = addressOf(host);
  if (address === undefined) return !host.includes(".");
  if (address.includes(":")) return !/^[23]/.test(address) || address.startsWith("2001:db8:");
  const [first = 0, second = 0, third = 0] = address.split(".").map(Number);
  return (
    first === 0 ||
    first >= 224 ||
    (first === 100 && second >= 64 && second <= 127) ||
    (first === 192 && second === 0 && (third === 0 || third === 2)) ||
    (first === 198 && (second === 18 || second === 19 || (second === 51 && third === 100))) ||
    (first === 203 && second === 0 && third === 113)
  );
}
