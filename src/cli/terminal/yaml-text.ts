import { Document, visit } from "yaml";
import { hasHidden, visibleYaml } from "../../domain/text/text.ts";

/**
 * The envelope as YAML, keys sorted. Goes through JSON first, so that both machine formats carry exactly the same
 * values.
 */
export function yamlText(value: unknown): string {
  const document = new Document(JSON.parse(JSON.stringify(value)), { sortMapEntries: true });
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === "string" && mustBeQuoted(node.value)) node.type = "QUOTE_DOUBLE";
    },
  });
  return visibleYaml(document.toString({ lineWidth: 0 }));
}

/**
 * Only between double quotes can a character be escaped; and a block that begins with blanks does not come back as it
 * was (" \n").
 */
function mustBeQuoted(text: string): boolean {
  return hasHidden(text) || /^[ \t\n][^]*\n/.test(text);
}
