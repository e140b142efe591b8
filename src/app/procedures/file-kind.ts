/** The kinds of definitions as a user names them. */
import type { FileKind } from "../../catalog/schemas/file-kinds.ts";
import { UsageError } from "../../domain/errors/errors.ts";
import { nearest } from "../../domain/text/suggest.ts";
import { shown } from "../../domain/text/text.ts";

/** Words that a user may say for a kind. */
const OTHER_WORDS: Readonly<Record<string, FileKind>> = {
  profile: "automation-profile",
  mcp: "mcp-servers",
  configuration: "config",
};

/** The kind that is meant, of those that the command knows. */
export function fileKind<K extends FileKind>(named: string, known: readonly K[]): K {
  const word = named.toLowerCase().replace(/^(actor|action|automation-profile|profile|validation|tool|skill)s$/, "$1");
  const wanted = OTHER_WORDS[word] ?? word;
  const kind = known.find((one) => one === wanted);
  if (kind !== undefined) return kind;
  const suggestion = nearest(word, known);
  const meant = suggestion === undefined ? "" : ` — did you mean "${suggestion}"?`;
  throw new UsageError(`There is no kind ${shown(named)} (there are: ${known.join(", ")})${meant}`, {
    kept: "Nothing was changed.",
    detail: { kind: named, ...(suggestion === undefined ? {} : { suggestion }) },
  });
}
