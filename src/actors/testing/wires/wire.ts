/**
 * The words that the four wire formats of the strict server have in common. A script sees each request in these words,
 * whichever format it came in, and says what the model answers.
 */
import { hash } from "node:crypto";
import type * as z from "zod";
import type { JsonObject } from "../../../domain/values/json.ts";
import type { PromptCache } from "./prompt-cache.ts";

export const WIRES = ["anthropic", "chat", "gemini", "responses"] as const;
export type WireName = (typeof WIRES)[number];

export interface WireCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

export type WireMessage =
  | { readonly role: "user"; readonly text: string; readonly images?: readonly WireImage[] }
  | { readonly role: "assistant"; readonly text: string; readonly calls: readonly WireCall[] }
  | { readonly role: "tool"; readonly callId: string; readonly text: string };

export interface WireImage {
  readonly type: string;
  readonly sha256: string;
}

/** One request, after all checks. */
export interface WireRequest {
  readonly wire: WireName;
  readonly model: string;
  /** As it came, header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  readonly system: string;
  readonly messages: readonly WireMessage[];
  /** Names, as they came. */
  readonly tools: readonly string[];
  /** How many requests the server had before this one. */
  readonly before: number;
}

/** The model's answer in the order reasoning, text, calls; or the endpoint's refusal. */
export type WireAnswer =
  | {
      readonly reasoning?: string;
      /** The reasoning is kept secret: only its opaque form is sent. */
      readonly redacted?: boolean;
      readonly text?: string;
      readonly calls?: readonly { readonly name: string; readonly input: JsonObject }[];
      /** Cut off at its limit, or ended by the provider's filter. */
      readonly finish?: "length" | "refused";
      /** The connection breaks after half of the answer. */
      readonly breaksOff?: boolean;
    }
  | WireFailure;

export interface WireFailure {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type WireScript = (request: WireRequest) => WireAnswer | Promise<WireAnswer>;

export interface WireUsage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
}

/** The fault of a request, as its provider would say it. */
export class WireError extends Error {
  readonly status: number;

  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}

/** The memory of the server between requests. */
export interface WireMemory {
  /** Opaque data handed out, by the id of the call or the text it belongs to. */
  readonly issued: Map<string, Issued>;
  readonly cache: PromptCache;
  /** Makes ids that no other answer of this server has. */
  readonly next: (prefix: string) => string;
}

export interface Issued {
  readonly reasoning: string;
  readonly opaque: string;
  /** Of formats whose reasoning is an item with an id. */
  readonly item?: string;
}

export interface ReadRequest extends Pick<WireRequest, "model" | "body" | "system" | "messages" | "tools"> {
  readonly usage: Omit<WireUsage, "output">;
}

/** One wire format: reads and checks a request, and writes an answer as its stream of events, or whole. */
export interface Wire {
  readonly read: (body: JsonObject, path: string, memory: WireMemory) => ReadRequest;
  readonly write: (
    answer: Exclude<WireAnswer, WireFailure>,
    about: { readonly model: string; readonly usage: WireUsage; readonly memory: WireMemory },
  ) => readonly string[];
  /** The same as one JSON document; without reasoning. */
  readonly whole: (
    answer: Exclude<WireAnswer, WireFailure>,
    about: { readonly model: string; readonly usage: WireUsage; readonly memory: WireMemory },
  ) => object;
  readonly failure: (status: number, message: string) => object;
}

/** Parses strictly: an unknown key is what an endpoint refuses too. */
export function parsed<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new WireError(`${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is not valid"}`);
}

const STARTS: Readonly<Record<string, string>> = {
  "image/png": "\x89PNG",
  "image/jpeg": "\xff\xd8\xff",
  "image/gif": "GIF8",
  "image/webp": "RIFF",
};

/** An endpoint refuses data that is not base64, or not of the type that is said. */
export function wireImage(type: string, base64: string): WireImage {
  const bytes = Buffer.from(base64, "base64");
  if (bytes.toString("base64") !== base64) throw new WireError("The image is not valid base64.");
  const start = STARTS[type];
  if (start === undefined || !bytes.toString("latin1").startsWith(start))
    throw new WireError(`The image was specified as ${type}, but does not appear to be one.`);
  return { type, sha256: hash("sha256", bytes) };
}

export function dataUrlImage(url: string): WireImage {
  const [, type = "", base64 = ""] = /^data:(image\/[a-z]+);base64,(.+)$/.exec(url) ?? [];
  return wireImage(type, base64);
}

export function event(data: object, name?: string): string {
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** Text in two pieces, so that a reader has to put it together. */
export function pieces(text: string): readonly string[] {
  const half = Math.ceil(text.length / 2);
  return [text.slice(0, half), text.slice(half)].filter((piece) => piece !== "");
}
