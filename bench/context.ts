/** Context assembly on real code: what it costs, and whether it shows what an answer needs. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { recall } from "./context-recall.ts";
import { speed } from "./context-speed.ts";
import { corpora } from "./corpus.ts";
import { type BenchSize, fileSystem, scratchDirectory } from "./measure.ts";
import { ifItRuns } from "./peer.ts";
import { findRepomix } from "./repomix.ts";

export async function run(options: {
  readonly peersDir: string;
  readonly dir: string;
  readonly size: BenchSize;
}): Promise<void> {
  await using scratch = await scratchDirectory(options.dir);
  const repomix = await ifItRuns("repomix", () => findRepomix(options.peersDir));
  const code = corpora(options.size);
  const names = code.map(({ name, version }) => `${name} ${version}`).join(", ");
  const beside = repomix === undefined ? "" : `repomix ${repomix.version}; `;
  console.log(`files in ${options.dir} (${await fileSystem(options.dir)}); ${beside}code of ${names}`);
  for (const part of [recall, speed]) {
    const dir = join(scratch.path, part.name);
    await mkdir(dir);
    await part({ size: options.size, dir, code, repomix });
  }
}
