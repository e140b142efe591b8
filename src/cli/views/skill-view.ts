/** A skill's line in a list, and its fields. */
import type { OutputOf } from "../../app/table/operation-table.ts";

type ListedSkill = OutputOf<"skill.list">["skills"][number];

export function skillState({ state, hiddenBy }: ListedSkill): string {
  return hiddenBy === null ? state : `hidden by ${hiddenBy}`;
}
