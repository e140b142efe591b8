/**
 * The confidence that a step of a plan goes well, from earlier records and from the step itself. It is compared with
 * the thresholds of the profile: a plan with enough confidence continues, any other asks.
 */
export interface ConfidenceFactors {
  /** How often the same kind of operation went well lately; 0.5 for one that is new. */
  readonly successRate: number;
  /** How well the projects are known from plans that were applied there. */
  readonly familiarity: number;
  readonly risk: number;
  /** How many rules are to be kept at once. */
  readonly invariantComplexity: number;
}

export interface Assessment {
  readonly confidence: number;
  readonly factors: ConfidenceFactors;
  /** One sentence for people. */
  readonly explanation: string;
}

export function assess(factors: ConfidenceFactors): Assessment {
  const { successRate, familiarity, risk, invariantComplexity } = factors;
  for (const [name, value] of Object.entries(factors)) {
    if (!(value >= 0 && value <= 1)) throw new RangeError(`${name} must be from 0 to 1, not ${value}`);
  }
  const sum = 0.3 * successRate + 0.2 * familiarity + 0.3 * (1 - risk) + 0.2 * (1 - invariantComplexity);
  // Binary fractions must not make 0.7999… of what is 0.8 on paper.
  const confidence = Math.round(sum * 10_000) / 10_000;
  const parts = [
    `success so far ${shownShare(successRate)} × 0.30`,
    `familiarity ${shownShare(familiarity)} × 0.20`,
    `risk ${shownShare(risk)} × −0.30`,
    `rules to keep ${shownShare(invariantComplexity)} × −0.20`,
  ];
  return { confidence, factors, explanation: `Confidence ${shownShare(confidence)}: 0.50 + ${parts.join(", ")}.` };
}

/** 0 always continues, 1 always asks; in between, the confidence must reach it. */
export function decide(threshold: number, confidence: number): "go" | "ask" {
  if (threshold <= 0) return "go";
  if (threshold >= 1) return "ask";
  return confidence >= threshold ? "go" : "ask";
}

function shownShare(value: number): string {
  return value.toFixed(2);
}
