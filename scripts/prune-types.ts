/**
 * Removes the declarations that no door of the package leads to. The compiler writes one for every source file, also
 * for those that only other sources use: they were more than half of the declarations. Part of `npm pack`.
 */
import { globSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const DIRECTORY = "dist/types";
const DOORS = ["index", "primitives", "definitions"].map((door) => join(DIRECTORY, `${door}.d.ts`));

const reached = new Set<string>();
const waiting = [...DOORS];
for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
  if (reached.has(file)) continue;
  reached.add(file);
  for (const [, path = ""] of readFileSync(file, "utf8").matchAll(/(?:from |import\()"(\.[^"]*)"/g))
    waiting.push(normalize(join(dirname(file), path.replace(/\.[jt]s$/, ".d.ts"))));
}
const all = globSync(`${DIRECTORY}/**/*.d.ts`);
for (const file of all) if (!reached.has(normalize(file))) rmSync(file);
console.log(`declarations: ${reached.size} of ${all.length} are reached from the doors`);
