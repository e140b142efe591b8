import type { InputOf, OutputOf } from "../../app/table/operation-table.ts";
import { count, duration } from "../terminal/format.ts";
import { info, type Message } from "../terminal/outcome.ts";
import type { Picture, Show } from "../terminal/show.ts";
import { lateEdits, leftOutMessages, paidText } from "./parts.ts";
import { queuedPicture } from "./queued.ts";
import { strategyElement } from "./strategy.ts";
import { validationView } from "./validation-results.ts";
import type { View } from "../terminal/view.ts";

type Output = OutputOf<"plan.execute">;
type Executed = Extract<Output, { outcome: "executed" }>;

export const show: Show<"plan.execute"> = (output, { input, verbose }) =>
  executionPicture(output, { includeDirty: input.includeDirty, verbose });

export function executionPicture(
  output: Output,
  { includeDirty, verbose }: Pick<InputOf<"plan.execute">, "includeDirty"> & { readonly verbose: boolean },
): Picture {
  if (output.outcome === "strategy") return strategyPicture(output, verbose);
  if (output.outcome === "queued") return queuedPicture(output);
  const picture = executedPicture(output, includeDirty === true);
  return { ...picture, messages: [...executedMessage(output), ...picture.messages] };
}

/** The strategy, for the person whose `plan execute` is the yes to it. */
function strategyPicture(output: Extract<Output, { outcome: "strategy" }>, verbose: boolean): Picture {
  const { planId, automationProfile, strategy, assessment } = output;
  const text = `This is what plan ${planId} would do. The profile ${automationProfile} asks first; nothing was changed.`;
  return {
    view: [strategyElement(strategy)],
    messages: [
      ...info(text),
      ...info(verbose ? assessment.explanation : `Confidence ${assessment.confidence.toFixed(2)}.`),
    ],
  };
}

/** How much was changed, and where: the sentence of a result that is not applied yet. */
function executedMessage(output: Executed): Message[] {
  const { planId, ran, changes, cost } = output;
  const amount = `${count(changes.files, "file")} changed (+${changes.insertions} −${changes.deletions})`;
  return info(
    `Plan ${planId} ${ran ? "is executed" : "had been executed already"}: ${amount} ${where(output)}.${paidSentence(cost)}`,
  );
}

/** " 6 model calls, $0.0357."; nothing for a plan that asked no model. */
export function paidSentence(cost: Executed["cost"]): string {
  return cost.calls === 0 ? "" : ` ${paidText(cost)}.`;
}

/** Everything but how much was changed: the answer, whether it is checked, and what to look at. */
export function executedPicture(output: Executed, includeDirty: boolean): Picture {
  const { changes, answer, checked, obstacle, sandboxes, keptFiles, leftOut, validations } = output;
  return {
    view: [...answerElement(answer), ...validationView(validations)],
    messages: [
      ...(includeDirty ? sandboxes.flatMap(madeWithoutDirty) : []),
      ...checkedMessages(checked, changes.files),
      ...leftOutMessages(leftOut),
      ...lateEdits(keptFiles),
      ...(obstacle === null
        ? []
        : [{ level: "warning", text: `${obstacle} The plan cannot be applied like this.` } as const]),
    ],
    status: obstacle === null ? "ok" : "warn",
  };
}

/** Said of every result that changed something. */
function checkedMessages(checked: Executed["checked"], files: number): Message[] {
  if (files === 0) return [];
  const text = checkedText(checked);
  return checked.outcome === "failed" ? [{ level: "warning", text }] : info(text);
}

export function checkedText({ outcome, by, durationMs, why }: Executed["checked"]): string {
  return outcome === "not_checked"
    ? `Not checked: ${why}.`
    : `Checked: ${by} ${outcome} (${duration(durationMs ?? 0)}).`;
}

/** The model's own words come first: they are what the user asked for. */
function answerElement(answer: string | null): View {
  return answer === null ? [] : [{ kind: "lines", title: "Answer", lines: answer.split("\n") }];
}

/** "in the sandbox" only where nothing else could have been changed. */
function where({ inPlace, confinement }: Extract<Output, { outcome: "executed" }>): string {
  if (inPlace.length > 0) return `in place, in ${inPlace.map(({ path }) => path).join(", ")}`;
  const enforced = confinement.kind !== "none" || confinement.required;
  return enforced ? "in the sandbox" : "in the plan's copy; its commands were not confined to it";
}

/** A plan that continues keeps its first base: `--include-dirty` has no effect then. */
function madeWithoutDirty({ resource, strategy, includeDirty }: Executed["sandboxes"][number]): Message[] {
  if (strategy !== "git_worktree" || includeDirty) return [];
  const text = `The sandbox of "${resource}" was made before, from committed files only, and --include-dirty does not change that.`;
  return [{ level: "warning", text }];
}
