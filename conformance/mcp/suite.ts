/**
 * The official conformance suite of the Model Context Protocol, in the versions of the protocol that it has requirements
 * for. A scenario for clients is a server that the suite starts, and client.ts is what it drives; a scenario for servers
 * is a client of the suite, and server-front.ts is what it calls.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import type { Verdict } from "../verdict.ts";
import { serverFront } from "./server-front.ts";

export const SUITE = { name: "@modelcontextprotocol/conformance", version: "0.2.0-alpha.12" } as const;
const REVISIONS = ["2025-11-25", "2026-07-28"] as const;
const CLIENT = fileURLToPath(new URL("client.ts", import.meta.url));
const SCENARIO_MS = 90_000;
const AT_ONCE = 2;

type Leg = "client" | "server";
const LEGS = ["client", "server"] as const satisfies readonly Leg[];

/** The scenarios for servers that need no tools, prompts or resources of the suite's own. */
const OF_ANY_SERVER: ReadonlySet<string> = new Set([
  "server-initialize",
  "ping",
  "tools-list",
  "resources-list",
  "dns-rebinding-protection",
  "server-sse-multiple-streams",
  "server-stateless",
  "sep-2164-resource-not-found",
  "caching",
  "http-header-validation",
  "input-required-result-unsupported-methods",
]);
const NO_FIXTURES = "wants tools, prompts or resources that only the suite's own server has";

const NO_QUESTIONS = "a plan does not put the questions of servers to a person, and does not offer to";
/** Checks that do not apply, each with its reason. One that passes after all is an error here. */
const NOT_OURS: Readonly<Record<string, { readonly checks: readonly string[] | "all"; readonly reason: string }>> = {
  "elicitation-sep1034-client-defaults": { checks: "all", reason: NO_QUESTIONS },
  "sep-2322-client-request-state": {
    checks: [
      "sep-2322-client-request-state-echoed",
      "sep-2322-client-jsonrpc-id-different",
      "sep-2322-client-no-state-omitted",
    ],
    reason: NO_QUESTIONS,
  },
  "http-custom-headers": {
    checks: ["sep-2243-client-omit-null"],
    reason: "its call does not fit the schema of its tool, so it is not made",
  },
  "server-stateless": {
    checks: [
      "sep-2575-server-rejects-undeclared-capability",
      "sep-2575-missing-capability-http-400",
      "sep-2575-http-server-no-independent-requests-on-stream",
      "sep-2575-server-no-log-without-loglevel",
    ],
    reason: NO_FIXTURES,
  },
  caching: { checks: ["sep-2549-prompts-list-caching-hints"], reason: NO_FIXTURES },
};

interface Wanted {
  readonly leg: Leg;
  readonly revision: string;
  readonly scenario: string;
  /** Why it is not tried. */
  readonly skipped?: string;
}

export interface SuiteRow {
  readonly row: string;
  readonly verdict: Verdict;
}

/** `directory` is where the suite is installed; `tell` gets each row as it is known. */
export async function mcpSuite(directory: string, tell: (row: SuiteRow) => void): Promise<void> {
  const suite = join(directory, "node_modules", SUITE.name);
  await using front = await serverFront();
  const words = {
    client: ["--command", `'${process.execPath}' '${CLIENT}'`, "--timeout", String(SCENARIO_MS)],
    server: ["--url", front.url],
  };
  const waiting = LEGS.flatMap((leg) => REVISIONS.flatMap((revision) => wantedOf(suite, leg, revision)));
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      tell({
        row: `${next.leg} ${next.revision} ${next.scenario}`,
        verdict: await tried(suite, next, words[next.leg]),
      });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

interface Requirements {
  readonly client: readonly string[];
  readonly server: readonly string[];
  readonly not_scored: readonly { readonly scenario: string; readonly leg: string; readonly reason: string }[];
}

function wantedOf(suite: string, leg: Leg, revision: string): Wanted[] {
  const file = join(suite, "requirements", `${revision}.yaml`);
  const { not_scored: more, ...scored } = parse(readFileSync(file, "utf8")) as Requirements;
  const others = more.filter((one) => one.leg === leg);
  const needsFixture = (scenario: string): boolean => leg === "server" && !OF_ANY_SERVER.has(scenario);
  const wanted = (scenario: string): Wanted =>
    needsFixture(scenario) ? { leg, revision, scenario, skipped: NO_FIXTURES } : { leg, revision, scenario };
  return [
    ...scored[leg].map(wanted),
    ...others.map(({ scenario, reason }) =>
      reason === "extension" ? { leg, revision, scenario, skipped: "an extension of the protocol" } : wanted(scenario),
    ),
  ];
}

async function tried(
  suite: string,
  { leg, revision, scenario, skipped }: Wanted,
  words: readonly string[],
): Promise<Verdict> {
  const { checks: notOurs = [], reason } = NOT_OURS[scenario] ?? {};
  if (skipped !== undefined) return { skipped };
  if (notOurs === "all") return { skipped: reason ?? "" };
  const output = mkdtempSync(join(tmpdir(), "cleveragents-suite-"));
  try {
    const options = ["--scenario", scenario, "--spec-version", revision, "--output-dir", output];
    const code = await run(suite, [leg, ...words, ...options]);
    const found = readdirSync(output, { recursive: true, encoding: "utf8" }).find((path) =>
      path.endsWith("checks.json"),
    );
    if (found === undefined) return { failed: `the suite ended with ${code} and said nothing` };
    const checks = checksIn(join(output, found));
    const failed = checks.filter(({ status }) => status === "FAILURE").map(({ id }) => id);
    const wrong = failed.filter((id) => !notOurs.includes(id));
    if (wrong.length > 0) return { failed: [...new Set(wrong)].join(", ") };
    const surprising = notOurs.filter((id) => !failed.includes(id));
    if (surprising.length > 0) return { failed: `passes now, although it should not apply: ${surprising.join(", ")}` };
    if (code !== 0 && failed.length === 0) return { failed: `the ${leg} ended with an error` };
    const passed = checks.filter(({ status }) => status === "SUCCESS").length;
    if (passed === 0) return { skipped: "the suite checks nothing here" };
    const left = reason === undefined ? "" : `; ${notOurs.length} do not apply: ${reason}`;
    return { passed: `${passed} checks${left}` };
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

function checksIn(file: string): readonly { readonly id: string; readonly status: string }[] {
  return JSON.parse(readFileSync(file, "utf8")) as { id: string; status: string }[];
}

async function run(suite: string, words: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [join(suite, "dist", "index.js"), ...words], { stdio: "ignore" });
  const [code] = (await once(child, "close")) as [number | null];
  return code ?? 1;
}
