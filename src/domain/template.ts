import { ValidationError, type ValidationIssue } from "./errors.ts";
import { nearest } from "./suggest.ts";

/**
 * The only templating there is: `{argument}` is replaced by that argument's value, once, left to right; values are never looked
 * at again. `{{argument}}` stands for the literal text `{argument}`. Anything else in braces is left alone.
 */
const PLACEHOLDER = /\{\{([A-Za-z][A-Za-z0-9_-]*)\}\}|\{([A-Za-z][A-Za-z0-9_-]*)\}/g;
const RENDERED_LIMIT = 256 * 1024;

/** The arguments the template uses, in its order, each as often as it is used. */
export function placeholders(template: string): string[] {
  return [...template.matchAll(PLACEHOLDER)].flatMap(([, , used]) => used ?? []);
}

/** One issue for each placeholder that names no argument. */
export function checkTemplate(template: string, path: string, argumentNames: readonly string[]): ValidationIssue[] {
  const issues: ValidationIssue[] = [];
  for (const used of placeholders(template)) {
    if (argumentNames.includes(used)) continue;
    const suggestion = nearest(used, argumentNames);
    issues.push({
      path,
      message: `uses {${used}}, but there is no argument "${used}"; write {{${used}}} for the literal text`,
      ...(suggestion === undefined ? {} : { suggestion }),
    });
  }
  return issues;
}

export function renderTemplate(template: string, values: ReadonlyMap<string, string>, path: string): string {
  let size = template.length;
  return template.replace(PLACEHOLDER, (placeholder, literal: string | undefined, used: string | undefined) => {
    const text = used === undefined ? `{${literal ?? ""}}` : (values.get(used) ?? "");
    size += text.length - placeholder.length;
    // Counted while it grows: a thousand placeholders of a long value must not take the memory first.
    if (size > RENDERED_LIMIT) {
      const message = `${path} is longer than ${RENDERED_LIMIT} characters once its arguments are filled in`;
      throw new ValidationError(`${message}.`, [{ path, message }]);
    }
    return text;
  });
}
