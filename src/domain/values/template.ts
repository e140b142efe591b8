import { ValidationError, type ValidationIssue } from "../errors/errors.ts";
import { nearest } from "../text/suggest.ts";

/**
 * The only templating there is: `{argument}` is replaced by that argument's value, once, left to right; values are
 * never looked at again. `{argument|sh}` is the value as one word of a shell, with quotes of its own. `{{argument}}`
 * stands for the literal text `{argument}`. Anything else in braces is left alone.
 */
const PLACEHOLDER = /\{\{([A-Za-z][A-Za-z0-9_-]*(?:\|sh)?)\}\}|\{([A-Za-z][A-Za-z0-9_-]*)(\|sh)?\}/g;
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
  const filled = (literal: string | undefined, used: string | undefined, quoted: string | undefined): string => {
    if (used === undefined) return `{${literal ?? ""}}`;
    const value = values.get(used) ?? "";
    return quoted === undefined ? value : shellQuoted(value);
  };
  return template.replace(PLACEHOLDER, (placeholder: string, ...groups: (string | undefined)[]) => {
    const text = filled(groups[0], groups[1], groups[2]);
    size += text.length - placeholder.length;
    // Counted while it grows: a thousand placeholders of a long value must not take the memory first.
    if (size > RENDERED_LIMIT) {
      const message = `${path} is longer than ${RENDERED_LIMIT} characters once its arguments are filled in`;
      throw new ValidationError(`${message}.`, [{ path, message }]);
    }
    return text;
  });
}

/** One word for a POSIX shell, with any content. */
function shellQuoted(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`;
}

/**
 * The problems of arguments in a text that a shell reads: one without `|sh` could become commands, and so could one
 * whose own quotes stand inside others.
 */
export function shellProblems(command: string): string[] {
  return [...command.matchAll(PLACEHOLDER)].flatMap(({ 2: used, 3: quoted, index }) => {
    if (used === undefined) return [];
    if (quoted === undefined) {
      return [
        `{${used}} goes into a command unquoted, so that its value may run as one: write {${used}|sh}, without quotes around it`,
      ];
    }
    return isInQuotes(command.slice(0, index))
      ? [`{${used}|sh} stands inside quotes, which undo its own: take the quotes around it away`]
      : [];
  });
}

/** Whether a quotation of the shell is open at the end of the text. */
function isInQuotes(text: string): boolean {
  let open = "";
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === "\\" && open !== "'") at += 1;
    else if (open === "" && (character === '"' || character === "'")) open = character;
    else if (character === open) open = "";
  }
  return open !== "";
}
