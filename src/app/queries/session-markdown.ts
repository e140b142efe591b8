/** A session as a page to read: each turn with what was said, decided, changed and paid. */
import type { SessionExport } from "./session-export.ts";

type Turn = SessionExport["turns"][number];

export function sessionMarkdown({ session, turns, program }: SessionExport): string {
  const { title, sessionId, project, directory, state, plans, cost, forkedFrom } = session;
  return [
    `# ${title}`,
    list([
      `Session ${sessionId}, ${state}`,
      `Project ${project} in ${directory}`,
      `${plans} ${plans === 1 ? "plan" : "plans"}, ${costText(cost)}`,
      ...(forkedFrom === null ? [] : [`Forked from ${forkedFrom}`]),
      `Written by ${program}`,
    ]),
    ...turns.map(turnText),
  ].join("\n\n");
}

function turnText(turn: Turn): string {
  const { turn: number, planId, createdAt, exchanges, remarks, patch, shared } = turn;
  const said = exchanges.flatMap(({ request, answer }, index) => [
    quoted(request),
    ...(index === 0 ? remarks.map(remarkText) : []),
    ...(answer === null ? [] : [answer]),
  ]);
  return [
    `## ${number}. ${firstLine(turn.request)}`,
    list([`Plan ${planId}, ${createdAt}${shared ? ", before the fork" : ""}`, outcomeText(turn), costText(turn.cost)]),
    ...said,
    ...decisionTexts(turn),
    ...(patch === "" ? [] : [fenced(patch, "diff")]),
  ].join("\n\n");
}

function outcomeText({ standing, changes, landings, failure, cancelReason }: Turn): string {
  const commits = landings.flatMap(({ commit }) => commit ?? []);
  const { files, insertions, deletions } = changes;
  return [
    `${standing}${commits.length === 0 ? "" : ` as ${commits.join(", ")}`}`,
    `${files.length} ${files.length === 1 ? "file" : "files"} changed (+${insertions} −${deletions})`,
    ...(cancelReason === null ? [] : [`cancelled: ${cancelReason}`]),
    ...(failure === null ? [] : [`stopped: ${failure}`]),
  ].join("; ");
}

function remarkText({ question, text }: Turn["remarks"][number]): string {
  return question === null ? quoted(text) : `${question}\n\n${quoted(text)}`;
}

function decisionTexts({ decisions = [] }: Turn): string[] {
  if (decisions.length === 0) return [];
  const lines = decisions.map(({ decisionId, type, question, step, calls }) => {
    const tools = calls.map(({ tool, outcome, error }) => `${tool} ${error ?? outcome}`.replaceAll("\n", " "));
    return `${decisionId} ${type}${step === null ? "" : ` (${step})`}: ${firstLine(question)}${tools.length === 0 ? "" : `; ${tools.join("; ")}`}`;
  });
  return ["### Decisions", list(lines)];
}

function costText({ calls, spentUsd, assumedUsd, unpricedCalls }: Turn["cost"]): string {
  const more = unpricedCalls === 0 ? "" : `, ${unpricedCalls} of them at an unknown price`;
  return `${calls} model ${calls === 1 ? "call" : "calls"}, $${(spentUsd + assumedUsd).toFixed(4)}${more}`;
}

function quoted(text: string): string {
  return text
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");
}

function list(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}

/** A fence longer than every one in the text: a patch of a page must not end its own block. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([marks]) => marks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0] ?? "";
}
