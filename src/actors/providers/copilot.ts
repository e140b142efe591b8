/**
 * GitHub Copilot: the user's login with GitHub is exchanged for a token that holds for some minutes, and with which
 * models are asked in OpenAI's language. The login is kept like an API key; the short token only in this process.
 */
import * as z from "zod";
import { ModelError } from "../models/model-error.ts";
import type { ModelRef } from "../models/model.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { DeviceLogin } from "./device-login.ts";

export const COPILOT = "copilot";

export function copilotLogin(github: string, clientId: string): DeviceLogin {
  const root = github.replace(/\/+$/, "");
  return {
    clientId,
    scope: "read:user",
    codeUrl: `${root}/login/device/code`,
    tokenUrl: `${root}/login/oauth/access_token`,
  };
}

const Exchanged = z.object({ token: z.string(), expires_at: z.number() });

/** A token is renewed so long before it ends. */
const EARLY_S = 60;
const NAME = "cleveragents";

type Fetch = typeof globalThis.fetch;

/** Requests with the short token instead of the login. */
export function copilotFetch(
  send: Fetch,
  access: {
    readonly login: string | undefined;
    readonly exchangeUrl: string;
    readonly model: ModelRef;
    readonly now?: () => number;
  },
): Fetch {
  const { now = Date.now } = access;
  let held: z.output<typeof Exchanged> | undefined;
  return async (input, init) => {
    if (held === undefined || held.expires_at - EARLY_S <= now() / 1_000) held = await exchanged(access);
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${held.token}`);
    headers.set("editor-version", NAME);
    headers.set("editor-plugin-version", NAME);
    headers.set("openai-intent", "conversation-edits");
    return await send(input, { ...init, headers });
  };
}

async function exchanged(access: Parameters<typeof copilotFetch>[1]): Promise<z.output<typeof Exchanged>> {
  const { login, exchangeUrl, model } = access;
  const refusedError = (why: string): ModelError =>
    new ModelError(
      "authentication",
      `GitHub does not let ${NAME} use Copilot: ${why}.`,
      { model },
      { next: [nextStep("login.copilot")] },
    );
  if (login === undefined) throw refusedError("nothing is logged in");
  const headers = { accept: "application/json", authorization: `token ${login}`, "editor-version": NAME };
  const response = await fetch(exchangeUrl, { headers, redirect: "error" });
  if (!response.ok) {
    await response.body?.cancel();
    throw refusedError(`${new URL(exchangeUrl).host} answers ${response.status}`);
  }
  const token = Exchanged.safeParse(await response.json());
  if (!token.success) throw refusedError("what it answers is not a token");
  return token.data;
}
