import type { IndexScope } from "../code-index/index-scope.ts";
import { openScopedIndex } from "../code-index/open-scoped-index.ts";
import type { ContextRequest } from "../context/model.ts";
import { inFocus } from "../context/strategies/anchors.ts";
import { AgentsError } from "../domain/errors.ts";
import { shown } from "../domain/text.ts";

const SUGGESTED = 3;

/** What is to be looked at must be there: a context around something else would look like an answer. */
export function requireFocus(scope: IndexScope, { focus }: Pick<ContextRequest, "focus">): void {
  if (focus.length === 0) return;
  using index = openScopedIndex(scope);
  for (const entry of focus) {
    if (inFocus(index, entry).length > 0) continue;
    const aliases = scope.trees.map(({ resource }) => resource);
    const alias = /^([A-Za-z][\w-]*):/.exec(entry)?.[1];
    const outside = alias !== undefined && !aliases.includes(alias);
    const [path = ""] = entry.split("#");
    const name = path.split(/[/:]/).at(-1) ?? "";
    const near = name === "" ? [] : index.searchPaths(name, SUGGESTED).map((file) => `${file.resource}:${file.path}`);
    throw new AgentsError(
      "not_found",
      outside
        ? `${shown(entry)} is outside of what may be seen: there is no resource ${shown(alias)} (there are: ${aliases.join(", ")}).`
        : `There is nothing like ${shown(entry)} among the files that may be seen.`,
      {
        kept: "Nothing was changed.",
        next: near.map((one) => `--focus ${one}`),
        detail: { focus: entry, near },
      },
    );
  }
}
