/**
 * The tokens by which callers reach a server: `ca_<id>_<secret>`. The secret has 256 random bits, so its plain SHA-256
 * is enough to keep; it is shown once. Creating and revoking are one transaction each, with event and audit entry.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { NotFoundError, UsageError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { ServerRole } from "../domain/names/server-roles.ts";
import { lineProblem } from "../domain/text/text.ts";
import { recordEvent, recordSourceOf, type RecordSource, type ServiceParts } from "../plans/transition.ts";
import type { Store } from "../store/port.ts";
import {
  findServerToken,
  findServerTokens,
  insertServerToken,
  markServerTokenUsed,
  revokeServerToken,
  type ServerToken,
} from "../store/tables/server-tokens.ts";

/** A use is written down at most once in this time: a busy client must not write with each request. */
const USED_EVERY_MS = 60_000;
const TOKEN = /^ca_([0-9a-z]{12})_([\w-]{43})$/;

export class ServerTokenService {
  readonly #store: Store;
  readonly #recordSource: RecordSource;

  constructor(parts: ServiceParts) {
    this.#store = parts.store;
    this.#recordSource = recordSourceOf(parts);
  }

  /** The whole token is in the answer, and never again. */
  async create(wanted: {
    readonly name: string;
    readonly role: ServerRole;
    readonly expiresAt: number | undefined;
  }): Promise<{ readonly token: string; readonly stored: ServerToken }> {
    const { name, role, expiresAt } = wanted;
    const problem = name.trim() === "" ? "is empty" : lineProblem(name, 100);
    if (problem !== undefined) throw new UsageError(`The token's name ${problem}.`, { kept: "Nothing was written." });
    const id = randomBytes(6).toString("hex");
    const secret = randomBytes(32).toString("base64url");
    const { clock, user } = this.#recordSource;
    const at = clock();
    const token = {
      id,
      name,
      role,
      secretHash: hashOf(secret),
      lastFour: secret.slice(-4),
      createdAt: at,
      createdBy: user,
      expiresAt,
    };
    await this.#store.transaction(async (tx) => {
      await insertServerToken(tx, token);
      const details = { token: id, name, role, expires_at: expiresAt ?? null };
      await recordEvent(tx, this.#recordSource, { type: "server_token.created", at, details });
    });
    return { token: `ca_${id}_${secret}`, stored: { ...token, revokedAt: undefined, usedAt: undefined } };
  }

  list(): Promise<ServerToken[]> {
    return this.#store.read(findServerTokens);
  }

  /** Its holder is refused from the next request on. */
  async revoke(id: string): Promise<ServerToken> {
    return this.#store.transaction(async (tx) => {
      const at = this.#recordSource.clock();
      const token = await findServerToken(tx, id);
      if (token === undefined || !(await revokeServerToken(tx, id, at))) {
        throw new NotFoundError("valid token", id, { next: [nextStep("server.token.list")] });
      }
      const details = { token: id, name: token.name, role: token.role };
      await recordEvent(tx, this.#recordSource, { type: "server_token.revoked", at, details });
      return { ...token, revokedAt: at };
    });
  }

  /** The token of these characters; undefined when there is none, or it is revoked or expired. */
  async check(given: string): Promise<ServerToken | undefined> {
    const [, id, secret] = TOKEN.exec(given) ?? [];
    if (id === undefined || secret === undefined) return undefined;
    const token = await this.#store.read((reader) => findServerToken(reader, id));
    if (token === undefined || !timingSafeEqual(Buffer.from(hashOf(secret)), Buffer.from(token.secretHash)))
      return undefined;
    const now = this.#recordSource.clock();
    if (!isValid(token, now)) return undefined;
    if (token.usedAt === undefined || token.usedAt <= now - USED_EVERY_MS)
      await this.#store.transaction((tx) => markServerTokenUsed(tx, id, now, USED_EVERY_MS));
    return token;
  }
}

/** Neither revoked nor expired. */
export function isValid({ revokedAt, expiresAt }: ServerToken, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || expiresAt > now);
}

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
