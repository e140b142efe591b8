/** Whether the result of a plan was checked, by what, and with which outcome: part of every result of an execution. */
import { existsSync } from "node:fs";
import * as z from "zod";
import { lastCheck } from "../../changes/own-check.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { findProjectChecks, projectFiles } from "../../execution/checks/project-checks.ts";
import { planResources } from "../../plans/in-place-rules.ts";
import type { App } from "../base/app.ts";
import type { ValidationFacts } from "./plan-validations.ts";

export const Checked = z.strictObject({
  outcome: z.enum(["passed", "failed", "not_checked"]),
  /** The validations or the command that decided it; null when nothing did. */
  by: z.string().nullable(),
  durationMs: z.number().nullable(),
  /** Why nothing checked the result, and which command could have; null when something did. */
  why: z.string().nullable(),
});

export type CheckedFacts = z.output<typeof Checked>;

export async function checkedResult(
  app: App,
  plan: Plan,
  validations: readonly z.output<typeof ValidationFacts>[],
): Promise<CheckedFacts> {
  const required = validations.filter(({ mode }) => mode === "required");
  if (required.length > 0) {
    const outcome = required.every(({ passed }) => passed) ? "passed" : "failed";
    const durationMs = Math.round(required.reduce((sum, one) => sum + one.durationMs, 0));
    return { outcome, by: required.map(({ validation }) => validation).join(", "), durationMs, why: null };
  }
  const commands = await ownChecks(app, plan);
  const found = await lastCheck(await app.store(), plan, commands);
  if (found !== undefined) {
    const { command: by, passed, durationMs } = found;
    return { outcome: passed ? "passed" : "failed", by, durationMs, why: null };
  }
  const [command] = commands;
  const why =
    command === undefined
      ? "no validation is attached, and the project names no test command"
      : `${command} was not run after the last change`;
  return { outcome: "not_checked", by: null, durationMs: null, why };
}

/** The commands by which the plan's projects check themselves. */
async function ownChecks(app: App, plan: Plan): Promise<string[]> {
  const resources = await (await app.store()).read((reader) => planResources(reader, plan));
  try {
    return resources
      .filter(({ path }) => existsSync(path))
      .flatMap(({ path }) => findProjectChecks(projectFiles(path)))
      .filter(({ purpose }) => purpose === "test")
      .map(({ command }) => command);
  } catch (error) {
    if (error instanceof AgentsError) return [];
    throw error;
  }
}
