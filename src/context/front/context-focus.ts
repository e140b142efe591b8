import type { IndexScope } from "../../code-index/model/index-scope.ts";
import { openScopedIndex } from "../../code-index/search/open-scoped-index.ts";
import type { ContextQuestion } from "../../domain/context/context-question.ts";
import { inFocus } from "../strategies/anchors.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import { shown } from "../../domain/text/text.ts";

const SUGGESTED = 3;

/** The focus must exist: a context around something else would look like an answer. */
export function requireFocus(scope: IndexScope, { focus }: Pick<ContextQuestion, "focus">): void {
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
        ? `${shown(entry)} is not visible: there is no resource ${shown(alias)} (there are: ${aliases.join(", ")}).`
        : `No visible file matches ${shown(entry)}.`,
      {
        kept: "Nothing was changed.",
        next: near.map((one) => ({ text: `--focus ${one}` })),
        detail: { focus: entry, near },
      },
    );
  }
}
