/** One task of the reactive oracle through `agents run … --yes`, in a repository with the task's tests as its check. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { strictServer } from "../../../actors/testing/strict-server.ts";
import type { WireUsage } from "../../../actors/testing/wires/wire.ts";
import { profileFor } from "../confinement.ts";
import { WireWorld } from "../wire-world.ts";
import { PERL_TASKS } from "./perl-tasks.ts";
import { PYTHON_TASKS } from "./python-tasks.ts";
import { ReactiveOracle } from "./reactive-oracle.ts";
import { LANGUAGES, type OracleTask } from "./task.ts";
import { TYPESCRIPT_TASKS } from "./typescript-tasks.ts";

/** Perl stands in for Go, which few machines have. */
export const ORACLE_TASKS: readonly OracleTask[] = [...PYTHON_TASKS, ...TYPESCRIPT_TASKS, ...PERL_TASKS];

export interface Solved {
  /** The solution is on the user's branch, and the check passed on it. */
  readonly solved: boolean;
  /** How often a failed check went back to the model. */
  readonly rounds: number;
  /** The end of the run, for a person who looks into it. */
  readonly said: string;
  readonly usage: readonly WireUsage[];
}

/** Why the tasks of a language cannot be solved here; undefined when they can. */
export function missingTool({ language }: OracleTask): string | undefined {
  const [program, ...args] = LANGUAGES[language].tool;
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return undefined;
  } catch {
    return `${program} is not installed here`;
  }
}

export async function solveTask(task: OracleTask): Promise<Solved> {
  const oracle = new ReactiveOracle(task);
  await using server = await strictServer({ script: oracle.script });
  using world = new WireWorld();
  await world.at(server);
  world.commit({ ...task.tests, ".gitignore": "__pycache__/\n" });
  const check = { name: "tests", description: "The tests pass", command: LANGUAGES[task.language].command };
  for (const words of [
    ["resource", "add", "git-checkout", "code", "--path", world.repository],
    ["project", "create", "shop", "--resource", "code"],
    ["validation", "add", "--config", world.write("tests.yaml", JSON.stringify(check))],
    ["validation", "attach", "code", "tests"],
  ]) {
    const { error } = await world.json(...words);
    if (error !== undefined) throw new Error(`${words.join(" ")}: ${error.message}`);
  }
  const profile = ["--automation-profile", await profileFor(world, "trusted")];
  const actor = ["--actor", "anthropic/claude-sonnet-4-5"];
  const wish = `write ${task.path}: ${task.name}; the tests say how`;
  const { data, error } = await world.asked(wish, "--project", "shop", ...actor, ...profile, "--yes");
  const refused = server.log.flatMap((one) => one.refused ?? []);
  const file = join(world.repository, task.path);
  const {
    checked,
    state,
    steps = [],
  } = data as {
    readonly checked?: { readonly outcome: string };
    readonly state?: string;
    readonly steps?: readonly { readonly id: string }[];
  };
  const right = existsSync(file) && readFileSync(file, "utf8") === task.solution;
  return {
    solved: right && state === "applied" && checked?.outcome === "passed" && refused.length === 0,
    rounds: steps.filter(({ id }) => id.startsWith("mend-")).length,
    said: [error?.message, data["answer"], data["obstacle"], ...refused].filter(Boolean).join("; "),
    usage: server.log.flatMap(({ usage }) => usage ?? []),
  };
}
