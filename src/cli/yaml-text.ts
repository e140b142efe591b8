import { Document, isScalar, visit } from "yaml";
import { hasHidden, visibleYaml } from "../domain/text.ts";

/** The envelope as YAML, keys sorted. Goes through JSON first, so that both machine formats carry exactly the same values. */
export function yamlText(value: unknown): string {
  const document = new Document(JSON.parse(JSON.stringify(value)), { sortMapEntries: true });
  visit(document, {
    Scalar: (_, node) => {
      // Only between double quotes can a character be escaped.
      if (isScalar(node) && typeof node.value === "string" && hasHidden(node.value)) node.type = "QUOTE_DOUBLE";
    },
  });
  return visibleYaml(document.toString({ lineWidth: 0 }));
}
