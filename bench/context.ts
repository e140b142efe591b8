/** Context assembly on real code: what it costs, and whether it shows what an answer needs. */
import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { recall } from "./context-recall.ts";
import { speed } from "./context-speed.ts";
import { PACKAGES } from "./corpus.ts";
import { fileSystem, scratchDirectory } from "./measure.ts";

export async function run(options: {
  readonly peersDir: string;
  readonly dir: string;
  readonly quick: boolean;
}): Promise<void> {
  await using scratch = await scratchDirectory(options.dir);
  const { version }: { version: string } = JSON.parse(
    readFileSync(join(options.peersDir, "node_modules", "repomix", "package.json"), "utf8"),
  );
  const corpus = PACKAGES.map((known) => `${known.name} ${known.version}`).join(", ");
  console.log(`files in ${options.dir} (${await fileSystem(options.dir)}); repomix ${version}; code of ${corpus}`);
  for (const part of [recall, speed]) {
    const dir = join(scratch.path, part.name);
    await mkdir(dir);
    await part({ ...options, dir });
  }
}
