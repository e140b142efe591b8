import type { Question } from "../../ledger/questions.ts";
import { instant } from "../format.ts";
import { toned, type Cell } from "../view.ts";

/** What a plan waits for, as commands show it. */
export function questionData({
  question,
  alternatives,
  assessment,
  phase,
  askedAt,
}: Question): Record<string, unknown> {
  return {
    question,
    alternatives,
    phase,
    confidence: assessment?.confidence ?? null,
    factors: assessment?.factors ?? null,
    explanation: assessment?.explanation ?? null,
    asked_at: instant(askedAt),
  };
}

export function questionRows({ question, alternatives, assessment }: Question): (readonly [string, Cell])[] {
  return [
    ["asks", toned(question, "warn")],
    ...alternatives.map((one, index) => [`  ${index + 1}`, one] as const),
    ...(assessment === undefined ? [] : [["because", assessment.explanation] as const]),
  ];
}
