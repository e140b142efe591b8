import { parseQualifiedName, type QualifiedName } from "./qualified-name.ts";

/** A model of a provider by itself; models have dots, colons and slashes of their own. */
const MODEL = /^(?!local\/)[a-z][a-z0-9-]{0,39}\/[\x21-\x7e]{1,200}$/;

/** Parses a name that stands for an actor: of a registered one, or `<provider>/<model>`. */
export function parseActorName(text: string, field = "actor"): QualifiedName {
  return MODEL.test(text) ? (text as QualifiedName) : parseQualifiedName(text, field);
}
