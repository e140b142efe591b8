import { lookup } from "node:dns/promises";
import { isIPv6 } from "node:net";
import { isForbiddenHost } from "../../domain/network/endpoint-address.ts";
import { ModelError } from "../models/model-error.ts";
import type { ModelRef } from "../models/model.ts";
import { nextStep } from "../../domain/errors/next-step.ts";

/**
 * The only way to a provider's endpoint. Requests go to the configured origin and nowhere else, also when the endpoint
 * answers with a redirect; an endpoint that falls silent is given up after a while, one that never stops is cut off.
 */
export interface FetchGuard {
  readonly model: ModelRef;
  readonly baseUrl: string;
  readonly idleTimeoutMs: number;
}

/** Limits for an endpoint's time and bytes, which no setting can raise. */
export interface FetchLimits {
  /** An hour is enough for any answer, even one that arrives slowly. */
  readonly totalMs: number;
  /** On the wire an answer is up to fifty times its text: each token comes in an envelope of its own. */
  readonly bytes: number;
  /** Of an error's body only the beginning is of interest. */
  readonly errorBytes: number;
}

const LIMITS: FetchLimits = { totalMs: 3_600_000, bytes: 256 * 1024 * 1024, errorBytes: 64 * 1024 };

type Fetch = typeof globalThis.fetch;

/** Node's own fetch gives up after five minutes without a byte, and no option changes that. */
const NODE_PATIENCE_MS = 290_000;

/** One that waits as long as our own watch does, loaded only for those who configured such patience. */
let patient: Promise<Fetch> | undefined;

async function patientFetch(): Promise<Fetch> {
  // Its default export, because a bundle of a CommonJS package has no other.
  const { default: undici } = await import("undici");
  const dispatcher = new undici.Agent({ headersTimeout: 0, bodyTimeout: 0 });
  // The same standard, typed twice.
  const send = undici.fetch as unknown as (url: URL, init: object) => Promise<Response>;
  return async (input, init) =>
    await send(new URL(input instanceof Request ? input.url : input), { ...init, dispatcher });
}

export function guardedFetch(
  guard: FetchGuard,
  limits: FetchLimits = LIMITS,
  resolve: (hostname: string) => Promise<readonly string[]> = addressesOf,
): Fetch {
  const { origin } = new URL(guard.baseUrl);
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== origin) throw redirectedError(guard, url.origin);
    // A name may lead to an address to which nothing may be sent.
    const forbidden = [url.hostname, ...(await resolve(url.hostname))].find(isForbiddenHost);
    if (forbidden !== undefined) throw redirectedError(guard, `//${isIPv6(forbidden) ? `[${forbidden}]` : forbidden}`);
    const watch = new Watch(guard, limits);
    const signals = [watch.signal, ...(init?.signal == null ? [] : [init.signal])];
    // The body may not be read at that moment, and the timers would keep the process.
    init?.signal?.addEventListener("abort", () => watch.stop(), { once: true });
    try {
      const send = guard.idleTimeoutMs < NODE_PATIENCE_MS ? fetch : await (patient ??= patientFetch());
      const response = await send(url, { ...init, redirect: "manual", signal: AbortSignal.any(signals) });
      if (response.status >= 300 && response.status < 400) {
        await response.body?.cancel();
        throw redirectedError(guard, response.headers.get("location") ?? "somewhere");
      }
      return watched(response, watch, guard.model, response.ok ? limits.bytes : limits.errorBytes);
    } catch (error) {
      watch.stop();
      throw error;
    }
  };
}

/** None for a name that cannot be resolved: the request says so better. */
async function addressesOf(hostname: string): Promise<readonly string[]> {
  const found = await lookup(hostname.replaceAll(/[[\]]/g, ""), { all: true }).catch(() => []);
  return found.map(({ address }) => address);
}

/** Aborts when nothing came for too long, or when it took too long altogether. */
class Watch {
  readonly #controller = new AbortController();
  readonly #idle: NodeJS.Timeout;
  readonly #total: NodeJS.Timeout;

  constructor({ model, idleTimeoutMs }: FetchGuard, { totalMs }: FetchLimits) {
    const end = (why: string) => (): void =>
      this.#controller.abort(new ModelError("timeout", why, { model, endedByUs: true }));
    const who = `${model.provider}/${model.model}`;
    this.#idle = setTimeout(end(`${who} gave no sign of life for ${idleTimeoutMs / 1000} s.`), idleTimeoutMs);
    this.#total = setTimeout(end(`${who} did not come to an end within ${totalMs / 60_000} minutes.`), totalMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  alive(): void {
    this.#idle.refresh();
  }

  stop(): void {
    clearTimeout(this.#idle);
    clearTimeout(this.#total);
  }
}

/** The same response, whose body is counted and keeps the watch awake. */
function watched(response: Response, watch: Watch, model: ModelRef, limit: number): Response {
  watch.alive();
  const reader = response.body?.getReader();
  if (reader === undefined) {
    watch.stop();
    return response;
  }
  let bytes = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          watch.stop();
          controller.close();
          return;
        }
        watch.alive();
        bytes += value.length;
        if (bytes <= limit) {
          controller.enqueue(value);
          return;
        }
        watch.stop();
        await reader.cancel();
        if (response.ok) {
          controller.error(answerTooLargeError(model));
          return;
        }
        // The pieces of a body are as long as the network made them: a long error may come as one.
        controller.enqueue(value.subarray(0, limit - (bytes - value.length)));
        controller.close();
      } catch (error) {
        watch.stop();
        controller.error(error instanceof ModelError ? error : brokenOffError(model));
      }
    },
    async cancel(reason) {
      watch.stop();
      await reader.cancel(reason);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}

export function brokenOffError(model: ModelRef): ModelError {
  return new ModelError("network", `The answer of ${model.provider}/${model.model} broke off in the middle.`, {
    model,
  });
}

export function answerTooLargeError(model: ModelRef): ModelError {
  return new ModelError("malformed", `${model.provider}/${model.model} sent more text than one answer can have.`, {
    model,
    endedByUs: true,
  });
}

function redirectedError({ model, baseUrl }: FetchGuard, where: string): ModelError {
  const place = URL.canParse(where, baseUrl) ? new URL(where, baseUrl).origin : "another place";
  return new ModelError(
    "rejected",
    `The endpoint ${baseUrl} of ${model.provider} leads to ${place}; nothing is sent there.`,
    { model },
    { next: [nextStep("config.set", { key: `provider.${model.provider}.base-url`, value: "<url>" })] },
  );
}
