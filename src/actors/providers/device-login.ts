/**
 * Login by a code that the user types on another page (RFC 8628). A provider that has it says where; the token is kept
 * with the API keys.
 */
import { setTimeout as wait } from "node:timers/promises";
import * as z from "zod";
import { AgentsError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";

export interface DeviceLogin {
  readonly clientId: string;
  readonly scope: string;
  readonly codeUrl: string;
  readonly tokenUrl: string;
}

export interface DeviceCode {
  readonly userCode: string;
  readonly verificationUrl: string;
  readonly deviceCode: string;
  readonly intervalMs: number;
  readonly expiresInMs: number;
}

const Code = z.object({
  device_code: z.string(),
  user_code: z.string(),
  verification_uri: z.url(),
  expires_in: z.number().min(1).default(900),
  interval: z.number().min(0).default(5),
});
const Token = z.object({
  access_token: z.string().optional(),
  error: z.string().optional(),
  interval: z.number().optional(),
});

const SLOW_DOWN_MS = 5_000;

export async function requestCode(login: DeviceLogin, signal: AbortSignal): Promise<DeviceCode> {
  const answer = await post(login.codeUrl, { client_id: login.clientId, scope: login.scope }, signal);
  const code = Code.safeParse(answer);
  if (!code.success) throw loginError(`${login.codeUrl} did not give a code`);
  const { device_code, user_code, verification_uri, expires_in, interval } = code.data;
  return {
    userCode: user_code,
    verificationUrl: verification_uri,
    deviceCode: device_code,
    intervalMs: interval * 1_000,
    expiresInMs: expires_in * 1_000,
  };
}

/** Waits until the user has typed the code; returns the token. */
export async function awaitToken(
  login: DeviceLogin,
  code: DeviceCode,
  {
    signal,
    now = Date.now,
    sleep,
  }: { signal: AbortSignal; now?: () => number; sleep?: (milliseconds: number) => Promise<void> },
): Promise<string> {
  const ends = now() + code.expiresInMs;
  const pause = sleep ?? ((milliseconds: number): Promise<void> => wait(milliseconds, undefined, { signal }));
  let { intervalMs } = code;
  while (now() < ends) {
    await pause(intervalMs);
    const body = {
      client_id: login.clientId,
      device_code: code.deviceCode,
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    };
    const { access_token: token, error, interval } = Token.parse(await post(login.tokenUrl, body, signal));
    if (token !== undefined) return token;
    if (error === "slow_down") intervalMs = interval === undefined ? intervalMs + SLOW_DOWN_MS : interval * 1_000;
    else if (error !== "authorization_pending")
      throw loginError(error === "access_denied" ? "you said no" : `it ended with ${error ?? "no answer"}`);
  }
  throw loginError("the code was not typed in time");
}

async function post(url: string, body: object, signal: AbortSignal): Promise<unknown> {
  const headers = { accept: "application/json", "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body), signal, redirect: "error" });
  if (!response.ok && response.status !== 400) throw loginError(`${url} answers ${response.status}`);
  return await response.json();
}

function loginError(why: string): AgentsError {
  return new AgentsError("configuration", `The login did not succeed: ${why}.`, {
    kept: "No token was kept.",
    next: [nextStep("login.copilot")],
  });
}
