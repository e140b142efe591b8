/** Plans as resources: `plan://{id}/status` and `plan://{id}/diff`. */
import type { CleverAgents } from "../app/open.ts";
import { toWire } from "../app/base/wire.ts";
import { OPERATIONS } from "../app/table/operation-table.ts";
import { AgentsError } from "../domain/errors/errors.ts";
import { spelledStep, type AnswerParts } from "./tool-answer.ts";
import { shortText } from "./shortened.ts";

const PARTS = {
  status: { title: "Where a plan stands", mimeType: "application/json" },
  diff: { title: "The changes of a plan as git diff", mimeType: "text/x-diff" },
} as const;
type Part = keyof typeof PARTS;
const PART_NAMES = ["status", "diff"] as const satisfies readonly Part[];

/** Plans in a list; templates reach the others. */
const LISTED = 20;
/** Characters of a diff; a client that wants more of it asks for single files. */
const LONGEST = 1_000_000;

export interface ResourceParts extends AnswerParts {
  readonly agents: CleverAgents;
  /** Plans of the repository here come first. */
  readonly directory: string | undefined;
}

export const TEMPLATES = PART_NAMES.map((part) => ({
  name: `plan-${part}`,
  uriTemplate: `plan://{id}/${part}`,
  ...PARTS[part],
}));

export async function listedResources({ agents, directory }: ResourceParts) {
  const here = directory === undefined ? {} : { directory };
  const { plans } = await agents.run("plan.list", { limit: LISTED, ...here });
  return plans.flatMap(({ planId, name, number }) =>
    PART_NAMES.map((part) => ({
      uri: `plan://${planId}/${part}`,
      name: `plan ${number}: ${part}`,
      title: `${name}: ${part}`,
      mimeType: PARTS[part].mimeType,
    })),
  );
}

export interface ReadResource {
  readonly uri: string;
  readonly mimeType: string;
  readonly text: string;
}

/** Undefined when there is no such resource. */
export async function readResource(uri: string, parts: ResourceParts): Promise<ReadResource | undefined> {
  const [, id = "", name] = /^plan:\/\/([0-9A-Za-z]+)\/(\w+)$/.exec(uri) ?? [];
  const part = PART_NAMES.find((one) => one === name);
  if (part === undefined) return undefined;
  try {
    return { uri, mimeType: PARTS[part].mimeType, text: await textOf(part, id, parts) };
  } catch (error) {
    if (error instanceof AgentsError && error.code === "not_found") return undefined;
    throw error;
  }
}

async function textOf(part: Part, plan: string, parts: ResourceParts): Promise<string> {
  const { agents, spell } = parts;
  if (part === "status") {
    const { operation } = await OPERATIONS["plan.status"].load();
    const status = await agents.run("plan.status", { plan });
    return JSON.stringify(
      toWire(operation.output, status, (step) => spelledStep(step, parts)),
      undefined,
      2,
    );
  }
  const { patch } = await agents.run("plan.diff", { plan });
  const text = shortText(patch, LONGEST);
  if (text.length === patch.length) return text;
  const whole = spell({ operation: "plan.diff", arguments: { plan } });
  return `${text}[cut: ${text.length} of ${patch.length} characters; all of it: ${whole}]\n`;
}
