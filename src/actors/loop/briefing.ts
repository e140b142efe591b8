/**
 * The texts that a model is told. The system prompt is the same for all steps of a plan and for deciding and working,
 * so that a provider reads it once: how to work, the author's and the project's instructions, and the place. Everything
 * about the plan stands in the first message of the conversation, which is never cut or summed up: however long the
 * conversation becomes, the goal and the constraints do not get lost.
 */
import type { Instructions } from "../../domain/plan/tool-outcome.ts";

export interface Place {
  readonly resources: readonly BriefedResource[];
  /** Facts about the sandbox: `no network`, `node_modules comes along`. */
  readonly facts: readonly string[];
  /** Commands that check the project, each with where it was found. */
  readonly checks: readonly { readonly command: string; readonly from: string }[];
}

export interface BriefedResource {
  readonly alias: string;
  readonly kind: string;
  readonly readOnly: boolean;
}

export interface Briefing {
  readonly goal: string;
  readonly definitionOfDone: string;
  readonly constraints: readonly string[];
  readonly arguments: readonly (readonly [name: string, value: string])[];
  /** The words of people so far. */
  readonly guidance: readonly string[];
  /** Earlier attempts at the plan, each with what became of it. */
  readonly earlier: readonly string[];
  /** The decided steps, in program order; empty while they are still to be decided. */
  readonly steps: readonly BriefedStep[];
  /** For a conversation that begins in the middle: the changes so far, and files that were read. */
  readonly handover: string;
  /** The turns of the session before this plan, as far as the conversation does not have them. */
  readonly session: string;
  /** The code that was found for this question. */
  readonly context: string;
}

export interface BriefedStep {
  readonly id: string;
  readonly description: string;
  /** "meanwhile": another agent works on it now. */
  readonly state: "done" | "this" | "meanwhile" | "later";
  readonly summary?: string;
}

const ROLE = `You are a software engineer. You work on the user's repositories in a sandbox, by calling tools; what you do not do by a tool is not done. The user sees and approves your result before it reaches their files.

1. Look: search and read until you know where the change belongs and how this code base does such things. Until a strategy is recorded, only tools that read can be used.
2. Decide: call record_strategy with as few steps as make sense; one step is enough for most requests. Steps that do not need each other run at the same time, by separate agents, and must not change the same files. For a request that needs no change, such as a question, give the answer there.
3. Work: carry out the step you are told. Prefer small edits to rewriting files. Follow the style of the code around. Make no files that were not asked for. Several independent calls can be made in one answer.
4. Check: run the project's check, or the tests nearest to your change, and mend what they show. If something cannot be run here, say so.
5. End the step by step_done or by answering without a call: say in a few sentences what you did, how it was checked, and what remains.

When a tool fails, read why and do something else; the same call fails the same way. When what you find makes the strategy wrong, call revise_strategy. When a choice is the user's and nothing here answers it, call ask_user; do not guess.`;

const STATES = {
  done: "done",
  this: "THIS IS YOUR STEP",
  meanwhile: "another agent works on it now: leave it alone",
  later: "comes later",
} as const satisfies Record<BriefedStep["state"], string>;

/** `own` is what the actor's author wrote. */
export function systemPrompt(own: string, instructions: readonly Instructions[], place: Place): string {
  const { resources, facts, checks } = place;
  return joined([
    ROLE,
    section("Instructions", own),
    ...instructions.map(instructionsSection),
    section("Resources", list(resources.map(resourceLine))),
    section("This sandbox", list(facts)),
    section("How this project is checked", list(checks.map(({ command, from }) => `${command} (${from})`))),
  ]);
}

export function instructionsSection({ path, text }: Instructions): string {
  return section(`Project instructions (${path})`, text);
}

/** The first message: everything about the plan. The model's task comes in a message of its own. */
export function opening(briefing: Briefing): string {
  const { goal, definitionOfDone, constraints, guidance, earlier, steps, handover, session, context } = briefing;
  return joined([
    section("The session so far", session),
    section("Found for it", context),
    section("Goal", goal),
    // Where nothing else was said, the request itself is the definition.
    section("Done when", definitionOfDone.trim() === goal.trim() ? "" : definitionOfDone),
    section("Constraints, all of which must hold", list(constraints)),
    section("Arguments", list(argumentLines(briefing))),
    section("Earlier attempts", list(earlier)),
    section("The user has said since, which counts more than what was decided before", list(guidance)),
    section("Decided steps", list(steps.map(stepLine))),
    section("So far", handover),
  ]);
}

/** Arguments that the goal does not already say word for word. */
function argumentLines({ arguments: given, goal }: Briefing): string[] {
  return given.filter(([, value]) => value.trim() !== goal.trim()).map(([name, value]) => `${name}: ${value}`);
}

function resourceLine({ alias, kind, readOnly }: BriefedResource): string {
  return `${alias} (${kind}${readOnly ? ", read-only" : ""})`;
}

function stepLine({ id, description, state, summary }: BriefedStep): string {
  const came = summary === undefined ? "" : `\n  What came of it: ${summary.replaceAll("\n", "\n  ")}`;
  return `${id} [${STATES[state]}]: ${description}${came}`;
}

function list(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join("\n");
}

function section(title: string, text: string): string {
  return text.trim() === "" ? "" : `# ${title}\n\n${text.trim()}`;
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n\n");
}
