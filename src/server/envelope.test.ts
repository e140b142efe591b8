import { expect, test } from "vitest";
import { nextStep } from "../domain/errors/next-step.ts";
import { begin, errorAnswer } from "./envelope.ts";
import { hostRule, isLoopback } from "./request-guard.ts";
import { ServerLog } from "./request-log.ts";
import { spellRequest } from "./spell.ts";

test("a defect is told to the log with its story, and to the client without it", () => {
  const stories: string[] = [];
  const environment = { MY_API_KEY: "k3y-that-is-secret-1234" };
  const error = new Error("broken by k3y-that-is-secret-1234");
  const { status, body } = errorAnswer(error, begin("plan list"), {
    environment,
    defect: (story) => void stories.push(story),
  });
  expect([status, JSON.stringify(body)]).toEqual([500, expect.not.stringContaining("broken")]);
  expect(body).toMatchObject({ command: "plan list", error: { code: "INTERNAL", kept: null } });
  expect(stories).toEqual([expect.stringContaining("broken by")]);
  expect(stories.join("")).not.toContain("k3y-that-is-secret");
});

test("a next step is a request, or a command where only a user of the machine can do it", () => {
  expect(spellRequest(nextStep("plan.apply", { plan: "01J" }, "then"))).toBe(
    'then: POST /api/v1/operations/plan.apply {"plan":"01J"}',
  );
  expect(spellRequest(nextStep("plan.list"))).toBe("POST /api/v1/operations/plan.list");
  expect(spellRequest(nextStep("init"))).toBe("agents init");
  expect(spellRequest(nextStep("server.start"))).toBe("agents server start");
  expect(spellRequest({ text: "git status" })).toBe("git status");
});

test("a line of the log is one line, and shows no secret", () => {
  const lines: string[] = [];
  const parts = { write: (line: string) => void lines.push(line), environment: { MY_TOKEN: "s3cret-value-5678" } };
  const log = new ServerLog({ ...parts, format: "plain", level: "info" });
  log.say("debug", "left out");
  log.say("error", "first\n  second s3cret-value-5678", { path: "/a b\n", ms: 1 });
  expect(lines).toEqual([
    expect.stringMatching(/^\S+ error {3}first \| second \[masked: [^\]]+\] path="\/a b\\n" ms=1$/),
  ]);
  expect(lines.join("")).not.toContain("s3cret");
});

test("loopback is an address of this machine alone", () => {
  expect(["127.0.0.1", "127.9.9.9", "::1", "LocalHost"].map(isLoopback)).toEqual([true, true, true, true]);
  expect(["0.0.0.0", "10.0.0.1", "127.evil.example"].map(isLoopback)).toEqual([false, false, false]);
  expect(hostRule({ host: "::", allowed: [] }).addresses).toBe(true);
});
