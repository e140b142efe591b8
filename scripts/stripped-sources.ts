/**
 * Loaded into every process of a test run, as plain JavaScript: gives it our sources with their types already taken
 * out. The command line runs from its sources there, some hundred files a thousand times, and taking the types out each
 * time cost two thirds of it. Types are replaced by blanks, so what coverage says of a place is true of the same place
 * in the source.
 */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";

const stripped = new URL(".", import.meta.url);
const root = new URL("../../src/", import.meta.url).href;

registerHooks({
  load(url, context, next) {
    if (!url.startsWith(root)) return next(url, context);
    const source = prepared(new URL(`src/${url.slice(root.length)}`, stripped));
    return source === undefined ? next(url, context) : { format: "module", shortCircuit: true, source };
  },
});

/** Undefined for a file that was not a source of ours when the run began: one that a test made. */
function prepared(url: URL): Buffer | undefined {
  try {
    return readFileSync(url);
  } catch {
    return undefined;
  }
}
