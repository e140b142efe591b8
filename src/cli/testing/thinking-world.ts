/** A user's repository and plans that a scripted model thinks for. */
import { profileFor } from "./confinement.ts";
import { World } from "./world.ts";

export const ACTION = `name: improve
description: Improve {what}
definition_of_done: The documentation says what changed
execution_actor: scripted/demo.yaml
arguments:
  - { name: what, required: true }
invariants:
  - Keep the public interface
`;

export interface ScriptedStep {
  readonly id: string;
  readonly description: string;
  readonly [key: string]: unknown;
}

/** The turn in which the strategist decides on these steps. JSON is YAML too. */
export function strategyTurn(steps: readonly ScriptedStep[], more: Readonly<Record<string, unknown>> = {}): string {
  const call = { tool: "record_strategy", parameters: { steps } };
  return turn({ match: { user: "Decide how this is done" }, tool_calls: [call], ...more });
}

export function turn(fields: Readonly<Record<string, unknown>>): string {
  return `  - ${JSON.stringify(fields)}\n`;
}

/** A turn of the model that works on the step. */
export function stepTurn(step: string, fields: Readonly<Record<string, unknown>>): string {
  return turn({ ...fields, match: { user: `step "${step}"`, ...(fields["match"] as object | undefined) } });
}

export class ThinkingWorld extends World {
  /** Writes what the model answers. */
  script(...turns: string[]): void {
    this.agents.write("demo.yaml", `turns:\n${turns.join("")}`);
  }

  /** Everything a plan needs, and a plan. */
  async thinking(action: string = ACTION, ...use: string[]): Promise<string> {
    this.agents.write("action.yaml", action);
    for (const call of [
      ["action", "create", "--config", "action.yaml"],
      ["resource", "add", ...this.resource],
      ["project", "create", "shop", "--resource", "api"],
    ]) {
      const { error } = await this.agents.json(...call);
      if (error !== undefined) throw new Error(`${call.join(" ")}: ${error.message}`);
    }
    return this.anotherThought(...use);
  }

  #profile(): Promise<string> | string {
    return this.anywhere ? profileFor(this.agents, "trusted") : "trusted";
  }

  /** Under a profile that goes on by itself, unless another is named. */
  async anotherThought(...use: string[]): Promise<string> {
    const profile = use.includes("--automation-profile") ? [] : ["--automation-profile", await this.#profile()];
    const words = ["plan", "use", "improve", "shop", "--arg", "what=docs", ...profile, ...use];
    const { data, error } = await this.agents.json(...words);
    if (error !== undefined) throw new Error(`plan use: ${error.message}`);
    return String(data["plan_id"]);
  }
}
