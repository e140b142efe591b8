/** The things a person should see before answering a question. */
import type * as z from "zod";
import type { Shown } from "../../app/base/call.ts";
import type { ComparisonFacts } from "../../app/queries/candidate-facts.ts";
import type { DefinitionWants } from "../../app/procedures/accept-definition.ts";
import type { WalkedChange } from "../../app/procedures/review-walk.ts";
import type { StrategyReady } from "../../app/procedures/execute-plan.ts";
import type { LandingPreview } from "../../app/queries/landing-facts.ts";
import type { CheckedFacts } from "../../app/queries/checked-result.ts";
import type { PlanDiffFacts } from "../../app/queries/diff-facts.ts";
import { wantTexts } from "../../domain/actor/actor-wants.ts";
import type { Screen } from "../terminal/render.ts";
import { oneLine, type Text } from "../terminal/terminal-text.ts";
import type { View } from "../terminal/view.ts";

const LINES_SHOWN = 200;

export async function shownView({ kind, output }: Shown, screen: Screen): Promise<{ view: View; text?: Text }> {
  switch (kind) {
    case "landings": {
      const { previewText } = await import("./landings.ts");
      return { view: [], text: previewText(output as z.output<typeof LandingPreview>) };
    }
    case "strategy": {
      const { strategyElement } = await import("./strategy.ts");
      return { view: [strategyElement((output as z.output<typeof StrategyReady>).strategy)] };
    }
    case "diff":
      return diffView(output as z.output<typeof PlanDiffFacts>, screen);
    case "checked": {
      const { checkedText } = await import("./plan-execute.ts");
      return { view: [], text: `${checkedText(output as CheckedFacts)}\n` };
    }
    case "change": {
      const { changeText } = await import("./plan-review.ts");
      return { view: [], text: changeText(output as WalkedChange, screen) };
    }
    case "comparison": {
      const { comparisonView } = await import("./candidate-tables.ts");
      return { view: comparisonView(output as ComparisonFacts) };
    }
    case "definition": {
      const { file, wants } = output as DefinitionWants;
      // Each wish on one line: with line breaks it could look like another one, or hide the next.
      const lines = wantTexts(wants).map((one) => `  ${oneLine(one)}`);
      return { view: [], text: [`${oneLine(file)} wants:`, ...lines, ""].join("\n") };
    }
  }
}

/** As `plan diff` shows it; of a long one the files only. */
async function diffView(diff: z.output<typeof PlanDiffFacts>, screen: Screen): Promise<{ view: View; text?: Text }> {
  const { colored, fileTable } = await import("./patch.ts");
  const { patch, files, planId } = diff;
  if (patch.split("\n").length <= LINES_SHOWN) return { view: [], text: colored(patch, screen) };
  const hint = { kind: "lines", title: "", lines: [`agents plan diff ${planId} shows each line`] } as const;
  return { view: [fileTable(files), hint] };
}
