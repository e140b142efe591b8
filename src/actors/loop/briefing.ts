/**
 * The part of the system prompt that tells a model about its plan. It is in every call, word for word, and never in the
 * conversation: however long that becomes, or is cut, the goal and the constraints do not get lost.
 */
export interface Briefing {
  readonly goal: string;
  readonly definitionOfDone: string;
  readonly constraints: readonly string[];
  readonly arguments: readonly (readonly [name: string, value: string])[];
  readonly resources: readonly BriefedResource[];
  /** Guidance that people gave while the plan ran. */
  readonly guidance: readonly string[];
  /** The decisions in program order; empty before the strategy is made. */
  readonly steps: readonly BriefedStep[];
  /** The context found in the code for this question. */
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
  /** "meanwhile": another model works on it now. */
  readonly state: "done" | "this" | "meanwhile" | "later";
  /** The outcome of the step. */
  readonly summary?: string;
}

const STATES = {
  done: "done",
  this: "THIS IS YOUR STEP",
  meanwhile: "another worker is doing this at the same time: leave it alone",
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
    section("People have said since (this counts more than earlier decisions)", list(guidance)),
    section("Decided steps", list(steps.map(stepLine))),
    section("Found for it in the code", context),
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
