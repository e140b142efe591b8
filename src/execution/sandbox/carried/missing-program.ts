/**
 * Explains a failure that only the sandbox has: a program or a module that the command did not find, and that is in
 * the user's checkout.
 */
import { existsSync } from "node:fs";
import { join, normalize } from "node:path";

const FORMS = [
  /(?:^|[\s:'"])([\w.@+/-]+): (?:command )?not found\b/m,
  /\b(?:env|exec): ['‘"]?([\w.@+/-]+)['’"]?: No such file or directory/,
  /Cannot find (?:module|package) '([^'\s]+)'/,
  /No module named '?([\w.]+)/,
  /can't open file '([^'\s]+)'/,
] as const;

/** Where programs and modules are in a checkout, besides where they are named. */
const PLACES = ["", "node_modules/.bin", ".venv/bin", "venv/bin", "vendor/bin", "node_modules"] as const;

/** A sentence for the end of the output; undefined when the checkout does not have it either, or the sandbox has it. */
export function missingInSandbox(
  output: string,
  where: { readonly checkout: string; readonly tree: string; readonly why: (path: string) => string | undefined },
): string | undefined {
  for (const form of FORMS) {
    const name = form.exec(output)?.[1];
    if (name === undefined || name.startsWith("/")) continue;
    const paths = PLACES.map((place) => normalize(join(place, name)));
    const path = paths.find((one) => !one.startsWith("..") && existsSync(join(where.checkout, one)));
    const why = path === undefined || existsSync(join(where.tree, path)) ? undefined : where.why(path);
    if (path !== undefined && why !== undefined)
      return `note: ${path} is in the user's checkout, but not in this sandbox: ${why}.`;
  }
  return undefined;
}
