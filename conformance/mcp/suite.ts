/**
 * The official conformance suite for clients of the Model Context Protocol, in the versions of the protocol that it has
 * requirements for. Each scenario is a server that the suite starts; client.ts is what it drives.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import type { Verdict } from "../verdict.ts";

export const SUITE = { name: "@modelcontextprotocol/conformance", version: "0.2.0-alpha.12" } as const;
const REVISIONS = ["2025-11-25", "2026-07-28"] as const;
const CLIENT = fileURLToPath(new URL("client.ts", import.meta.url));
const SCENARIO_MS = 90_000;
const AT_ONCE = 2;

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
};

interface Wanted {
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
  const waiting = REVISIONS.flatMap((revision) => wantedOf(suite, revision));
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      tell({ row: `${next.revision} ${next.scenario}`, verdict: await tried(suite, next) });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

interface Requirements {
  readonly client: readonly string[];
  readonly not_scored: readonly { readonly scenario: string; readonly leg: string; readonly reason: string }[];
}

function wantedOf(suite: string, revision: string): Wanted[] {
  const file = join(suite, "requirements", `${revision}.yaml`);
  const { client, not_scored: more } = parse(readFileSync(file, "utf8")) as Requirements;
  const others = more.filter(({ leg }) => leg === "client");
  return [
    ...client.map((scenario) => ({ revision, scenario })),
    ...others.map(({ scenario, reason }) =>
      reason === "extension" ? { revision, scenario, skipped: "an extension of the protocol" } : { revision, scenario },
    ),
  ];
}

async function tried(suite: string, { revision, scenario, skipped }: Wanted): Promise<Verdict> {
  const { checks: notOurs = [], reason } = NOT_OURS[scenario] ?? {};
  if (skipped !== undefined) return { skipped };
  if (notOurs === "all") return { skipped: reason ?? "" };
  const output = mkdtempSync(join(tmpdir(), "cleveragents-suite-"));
  try {
    const code = await run(suite, ["--scenario", scenario, "--spec-version", revision, "--output-dir", output]);
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
    if (code !== 0 && failed.length === 0) return { failed: "the client ended with an error" };
    const passed = checks.filter(({ status }) => status === "SUCCESS").length;
    const left = reason === undefined ? "" : `; ${notOurs.length} do not apply: ${reason}`;
    return { passed: `${passed} checks${left}` };
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

function checksIn(file: string): readonly { readonly id: string; readonly status: string }[] {
  return JSON.parse(readFileSync(file, "utf8")) as { id: string; status: string }[];
}

async function run(suite: string, options: readonly string[]): Promise<number> {
  const client = `'${process.execPath}' '${CLIENT}'`;
  const words = ["client", "--command", client, "--timeout", String(SCENARIO_MS), ...options];
  const child = spawn(process.execPath, [join(suite, "dist", "index.js"), ...words], { stdio: "ignore" });
  const [code] = (await once(child, "close")) as [number | null];
  return code ?? 1;
}
