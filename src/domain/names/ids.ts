import { randomFillSync } from "node:crypto";

/**
 * Monotonic ULIDs: 48 bits of milliseconds and 80 of randomness in Crockford's base 32. Two ids of one generator keep
 * their order even within a millisecond or when the clock steps back: the random part is then counted up. (Our own 40
 * lines because a whole run must be reproducible from one seed: clock and randomness are arguments.)
 */
export type PlanId = string & { readonly __brand: "PlanId" };
/** The id of a changeset. */
export type ChangesetId = string & { readonly __brand: "ChangesetId" };
export type AttachmentId = string & { readonly __brand: "AttachmentId" };
/** The id of a decision. */
export type DecisionId = string & { readonly __brand: "DecisionId" };
/** The id of a session. */
export type SessionId = string & { readonly __brand: "SessionId" };
/** The id of a tool call. */
export type InvocationId = string & { readonly __brand: "InvocationId" };

/** Milliseconds since the epoch, UTC. */
export type Clock = () => number;
/** Makes ids that sort in the order in which they were made. */
export type IdGenerator = () => string;

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

export function isId(text: string): boolean {
  return ID.test(text);
}

/** `randomBytes` fills 10 bytes. */
export function monotonicIds(
  clock: Clock = Date.now,
  randomBytes: (target: Uint8Array) => void = randomFillSync,
): IdGenerator {
  let lastTime = -1;
  const random = new Uint8Array(10);
  return () => {
    const now = instant(clock());
    if (now > lastTime) {
      lastTime = now;
      randomBytes(random);
      // The top bit stays clear, so that counting up cannot overflow within a millisecond.
      random[0] = (random[0] ?? 0) & 0x7f;
    } else {
      increment(random);
    }
    return encodeTime(lastTime) + encodeRandom(random);
  };
}

/**
 * The largest time an id can hold: 48 bits. An invalid time counts as time zero, and the order is kept all the same.
 */
function instant(time: number): number {
  return Number.isFinite(time) ? Math.min(Math.max(0, Math.trunc(time)), 2 ** 48 - 1) : 0;
}

function increment(bytes: Uint8Array): void {
  for (let index = bytes.length - 1; index >= 0; index -= 1) {
    const next = (bytes[index] ?? 0) + 1;
    bytes[index] = next & 0xff;
    if (next <= 0xff) return;
  }
}

function encodeTime(time: number): string {
  let text = "";
  let rest = time;
  for (let index = 0; index < 10; index += 1) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** 10 bytes are exactly 16 characters of 5 bits. */
function encodeRandom(bytes: Uint8Array): string {
  let text = "";
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET.charAt((buffer >>> bits) & 31);
    }
    buffer &= (1 << bits) - 1;
  }
  return text;
}
