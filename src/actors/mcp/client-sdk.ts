/**
 * The official client, loaded when a server is first used. It prints warnings with `console.warn`, in words for
 * programmers: people and programs that read our standard error never see them. Those about an answer are handed to the
 * caller that asked for it.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type * as Sdk from "@modelcontextprotocol/client";

const PREFIX = "[mcp-sdk] ";
const ofCall = new AsyncLocalStorage<string[]>();
let sdk: Promise<typeof Sdk> | undefined;

export function clientSdk(): Promise<typeof Sdk> {
  sdk ??= load();
  return sdk;
}

/** The warnings of the client in `work`, added to `told`. */
export function collectingWarnings<T>(told: string[], work: () => Promise<T>): Promise<T> {
  return ofCall.run(told, work);
}

async function load(): Promise<typeof Sdk> {
  const warn = console.warn.bind(console);
  // Nothing but the client's own lines is kept back: the console may be that of a program that uses this library.
  console.warn = (...given: unknown[]) => {
    const [first] = given;
    if (typeof first !== "string" || !first.startsWith(PREFIX)) warn(...given);
    else ofCall.getStore()?.push(first.slice(PREFIX.length));
  };
  return import("@modelcontextprotocol/client");
}
