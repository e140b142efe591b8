/**
 * What a model is told about the plan it works for. It stands in the system prompt of every call, word for word, and
 * never in the conversation: however long that becomes, or is cut, the goal and the constraints do not get lost.
 */
export interface Briefing {
  readonly goal: string;
  readonly definitionOfDone: string;
  readonly constraints: readonly string[];
  readonly arguments: readonly (readonly [name: string, value: string])[];
  readonly resources: readonly BriefedResource[];
  /** What people said on the way. */
  readonly guidance: readonly string[];
  /** What was decided, in program order; empty while that is still to be done. */
  readonly steps: readonly BriefedStep[];
  /** What was found in the code for this question. */
  readonly context: string;
}

interface BriefedResource {
  readonly alias: string;
  readonly kind: string;
  readonly readOnly: boolean;
}

export interface BriefedStep {
  readonly id: string;
  readonly description: string;
  /** "meanwhile": somebody else is at it now. */
  readonly state: "done" | "this" | "meanwhile" | "later";
  /** What came of it. */
  readonly summary?: string;
}

const STATES = {
  done: "done",
  this: "THIS IS YOUR STEP",
  meanwhile: "being done by somebody else at the same time: leave it alone",
  later: "comes later: leave it alone",
} as const satisfies Record<BriefedStep["state"], string>;

/** `role` says what the model is to do, `own` is what the actor's author wrote. */
export function briefed(role: string, own: string, briefing: Briefing): string {
  const { constraints, resources, guidance, steps, context } = briefing;
  const parts = [
    role,
    section("Instructions", own),
    section("Goal", briefing.goal),
    section("Done when", briefing.definitionOfDone),
    section("Constraints, all of which must hold", list(constraints)),
    section("Arguments", list(briefing.arguments.map(([name, value]) => `${name}: ${value}`))),
    section(
      "Resources",
      list(resources.map(({ alias, kind, readOnly }) => `${alias} (${kind}${readOnly ? ", read-only" : ""})`)),
    ),
    section("What people have said since, which counts more than what was decided before", list(guidance)),
    section("Decided steps", list(steps.map(stepLine))),
    section("What was found for it", context),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
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
