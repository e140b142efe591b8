/**
 * The questions of operations, asked in an editor. A yes is for the version of the plan that was shown: the operation
 * holds on to that version, and refuses when the plan has changed before the answer came.
 */
import type * as z from "zod";
import type { ElicitationSchema, ToolCallContent } from "@agentclientprotocol/sdk";
import type { Ask, Question, Reply, Shown } from "../app/base/call.ts";
import type { CleverAgents } from "../app/open.ts";
import type { OutputOf } from "../app/table/operation-table.ts";
import type { CheckedFacts } from "../app/queries/checked-result.ts";
import type { StrategyReady } from "../app/procedures/execute-plan.ts";
import type { LandingPreview } from "../app/queries/landing-facts.ts";
import type { DecisionNode } from "../app/queries/decision-tree.ts";
import { text, type EditorClient, type PermissionWish, type Way } from "./editor-client.ts";

export interface AskParts {
  readonly agents: CleverAgents;
  readonly client: EditorClient;
  readonly signal: AbortSignal;
  /** The plan that the operation works on. */
  readonly plan: () => string | undefined;
}

const KEEP: Way = { id: "keep", name: "Keep for later", kind: "reject_once" };

export function editorAsk(parts: AskParts): Ask {
  return async (question) => {
    if (parts.signal.aborted) return { kind: "none" };
    switch (question.kind) {
      case "strategy":
        return yesOrNo(parts, {
          title: question.text,
          kind: "think",
          content: question.shown.flatMap(shownText),
          ways: [{ id: "carry-out", name: "Carry out", kind: "allow_once" }, KEEP],
        });
      case "confirm":
        return yesOrNo(parts, await approvalWish(parts, question));
      case "plan":
        return planQuestion(parts, question);
      case "review":
      case "edit":
      case "value":
        return { kind: "none" };
      case "choice":
        return choice(parts, question);
    }
  };
}

async function yesOrNo({ client, signal }: AskParts, wish: PermissionWish): Promise<Reply> {
  const [yes] = wish.ways;
  const chosen = await client.permission(wish, signal);
  return chosen !== undefined && chosen === yes?.id ? { kind: "yes" } : { kind: "no" };
}

/** With the whole text of each file where the question is about a plan's changes. */
async function approvalWish(
  { agents, plan: planOf }: AskParts,
  { text: title, shown }: Extract<Question, { kind: "confirm" }>,
): Promise<PermissionWish> {
  const plan = planOf();
  const applies = title.startsWith("Apply ") || title.startsWith("Keep ");
  const ways: Way[] = [
    applies
      ? { id: "apply", name: "Apply", kind: "allow_once" }
      : { id: "yes", name: title.split(" ", 1)[0] ?? "Yes", kind: "allow_once" },
    applies ? KEEP : { id: "no", name: "Leave it as it is", kind: "reject_once" },
  ];
  const lines = shown.flatMap(shownText);
  if (!applies || plan === undefined) return { title, kind: "edit", content: lines, ways };
  const { texts = [] } = await agents.run("plan.artifacts", { plan, texts: true });
  const locations = texts.flatMap(({ place }) => (place === null ? [] : [{ path: place }]));
  return { title, kind: "edit", content: [...texts.map(fileContent), ...lines], locations, ways };
}

type FileTexts = NonNullable<OutputOf<"plan.artifacts">["texts"]>[number];

const LEFT_OUT = { binary: "is not text", large: "is too large to be shown here" } as const;

export function fileContent({ path, place, before, after, leftOut }: FileTexts): ToolCallContent {
  if (leftOut !== null) return text(`${place ?? path} is changed and ${LEFT_OUT[leftOut]}.`);
  return { type: "diff", path: place ?? path, oldText: before, newText: after ?? "" };
}

function shownText({ kind, output }: Shown): ToolCallContent[] {
  switch (kind) {
    // The files are shown whole instead.
    case "diff":
      return [];
    case "strategy":
      return [text(strategyText((output as z.output<typeof StrategyReady>).strategy))];
    case "checked":
      return [text(checkedText(output as CheckedFacts))];
    case "landings":
      return [text(previewText(output as z.output<typeof LandingPreview>))];
    case "definition":
    case "change":
    case "comparison":
      return [text(JSON.stringify(output, undefined, 2))];
  }
}

function strategyText(tree: DecisionNode | null): string {
  const steps = tree === null ? [] : [...nodes(tree)].filter(({ work }) => work !== null);
  return steps
    .map(({ step, work, rationale, alternatives }, index) =>
      [
        `${index + 1}. **${step}**: ${work?.description ?? ""}${work?.risk == null ? "" : ` (risk ${work.risk})`}`,
        ...(rationale === null ? [] : [`   because: ${rationale}`]),
        ...alternatives.map((other) => `   instead of: ${other}`),
      ].join("\n"),
    )
    .join("\n");
}

function* nodes(tree: DecisionNode): Generator<DecisionNode> {
  yield tree;
  for (const child of tree.children) yield* nodes(child);
}

export function checkedText({ outcome, by, why }: CheckedFacts): string {
  return outcome === "not_checked" ? `Not checked: ${why}.` : `Checked: ${by} ${outcome}.`;
}

function previewText({ landings, conflicts, held }: z.output<typeof LandingPreview>): string {
  return [
    ...landings.map(
      ({ path, branch, files }) => `${path}${branch === null ? "" : ` (${branch})`}: ${files.join(", ")}`,
    ),
    ...held.map(({ path, plans }) => `stays: ${path}, which plan ${plans.join(", plan ")} made too`),
    ...conflicts.map(({ path, why }) => `conflict: ${path} ${why}`),
  ].join("\n");
}

/** By a form where the editor has one, else by the alternatives as ways, else as text: the next prompt answers. */
async function planQuestion(parts: AskParts, question: Extract<Question, { kind: "plan" }>): Promise<Reply> {
  const { client, signal } = parts;
  const { alternatives } = question;
  if (client.abilities.forms) return answered(await client.form(question.text, formOf(alternatives), signal));
  if (alternatives.length === 0) return { kind: "none" };
  const ways = [
    ...alternatives.map((name, index) => ({ id: `way-${index}`, name, kind: "allow_once" as const })),
    { id: "later", name: "Answer in the next message", kind: "reject_once" as const },
  ];
  const wish: PermissionWish = { title: question.text, kind: "think", content: [text(question.text)], ways };
  const chosen = await client.permission(wish, signal);
  const way = alternatives.find((_, index) => `way-${index}` === chosen);
  return way === undefined ? { kind: "none" } : { kind: "text", text: way };
}

/** By its number; none is chosen without one. */
async function choice(
  { client, signal }: AskParts,
  { text: title, alternatives, shown }: Extract<Question, { kind: "choice" }>,
): Promise<Reply> {
  const ways = [
    ...alternatives.map((name, index) => ({ id: `${index + 1}`, name, kind: "allow_once" as const })),
    KEEP,
  ];
  const chosen = await client.permission({ title, kind: "edit", content: shown.flatMap(shownText), ways }, signal);
  return chosen === undefined || chosen === KEEP.id ? { kind: "none" } : { kind: "text", text: chosen };
}

function formOf(alternatives: readonly string[]): ElicitationSchema {
  const answer = { type: "string", title: "Your answer" } as const;
  if (alternatives.length === 0) return { type: "object", properties: { answer }, required: ["answer"] };
  return {
    type: "object",
    properties: {
      choice: { type: "string", title: "Choose", enum: [...alternatives] },
      answer: { ...answer, title: "Or say what to do instead" },
    },
  };
}

/** Words of the person's own win over a choice. */
function answered(content: Readonly<Record<string, unknown>> | undefined): Reply {
  const said = [content?.["answer"], content?.["choice"]].find((one) => typeof one === "string" && one.trim() !== "");
  return typeof said === "string" ? { kind: "text", text: said } : { kind: "none" };
}
