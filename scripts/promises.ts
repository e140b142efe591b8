/** Each promise of the README, and the scenario in features/ that shows it in the shortest time. */
export const PROMISES = {
  "Nothing is lost": "Different settings set at the same time both survive",
  "Nothing is misattributed": "Every change leads back to a decision",
  "Nothing is half done": "A person was there first: nothing changes, and the plan continues when that is resolved",
  "Other work is not touched": "The work that others did meanwhile stays",
  "One approval, one effect": "Several processes apply one plan once",
  "Context is exact": "A ready context for any model, without a project",
  "Spending stops at the cap": "Of several calls at once those are refused that could go over the cap",
} satisfies Readonly<Record<string, string>>;
