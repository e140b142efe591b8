/** The prompts for an outside agent: everything about the plan and its step, in one text. */
import { opening, type Briefing } from "../../actors/loop/briefing.ts";

const ROLE = `You work on the user's files in a sandbox, by your own tools. Carry out the step below, and nothing besides it: what you change in the files is the result, and the user sees and approves it before it reaches their repository. Commits, branches and stashes of yours stay in the sandbox and count for nothing. When a choice is the user's and nothing here answers it, change nothing and end with your question. At the end say in a few sentences what you did, how it was checked, and what remains.`;

export interface PromptParts {
  readonly own: string;
  readonly briefing: Briefing;
  readonly facts: {
    readonly facts: readonly string[];
    readonly checks: readonly { readonly command: string; readonly from: string }[];
  };
  readonly step: string;
  readonly description: string;
  /** The beginning of another turn: what happened since the one before. */
  readonly since: readonly string[];
}

export function turnPrompt({ own, briefing, facts, step, description, since }: PromptParts): string {
  // The only step of a request is the request itself: it is said once, because each question pays for it again.
  const whole = briefing.steps.length === 1 && description.trim() === briefing.goal.trim();
  const told = whole ? { ...briefing, steps: [] } : briefing;
  const place = [...facts.facts, ...facts.checks.map(({ command, from }) => `Check: ${command} (${from})`)];
  return [
    own.trim(),
    ROLE,
    opening(told),
    place.length === 0 ? "" : `# This sandbox\n\n${place.map((fact) => `- ${fact}`).join("\n")}`,
    `# Your step\n\n"${step}": ${whole ? "all of the goal" : description}`,
    since.length === 0 ? "" : `# Since you began\n\n${since.join("\n\n")}`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}
