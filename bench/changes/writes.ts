import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { compare } from "../compare.ts";
import { grouped, parallel, summarize, table, timed } from "../measure.ts";
import { ExecutingPlan } from "./executing-plan.ts";
import { type ChangesSize, firstFiles, repository, text } from "./world.ts";

/** Both sides write new files of the same bytes, 2 KB each, into one directory per round. */
export async function writes(dir: string, { rounds, share }: ChangesSize): Promise<void> {
  const writesPerRound = 400 * share;
  await using plan = await ExecutingPlan.start(dir, await repository(dir, 100));
  for (const atOnce of [1, 16]) {
    await compare(rounds, {
      what: `write_file, ${atOnce === 1 ? "one at a time" : `${atOnce} at once`}, ${writesPerRound} files of 2 KB per round`,
      aim: atOnce === 16 ? 2 : undefined,
      unit: { name: "µs a file", perMs: 1_000 / writesPerRound },
      ours: (round) =>
        timed(() =>
          parallel(atOnce, writesPerRound, (index) =>
            plan.write(`${atOnce}/${round}/${index}.txt`, text(round, index)),
          ),
        ),
      peer: {
        name: "write and fsync",
        run: async (round) => {
          const directory = join(dir, "bare", `${atOnce}`, `${round}`);
          await mkdir(directory, { recursive: true });
          return timed(() =>
            parallel(atOnce, writesPerRound, (index) =>
              writeDurably(join(directory, `${index}.txt`), text(round, index)),
            ),
          );
        },
      },
    });
  }
}

async function writeDurably(file: string, content: string): Promise<void> {
  await using handle = await open(file, "w");
  await handle.writeFile(content);
  await handle.sync();
}

/** The same write into changesets that hold few and many entries, each in a store of its own. */
export async function growth(dir: string, { rounds, share }: ChangesSize): Promise<void> {
  const [few, many, writesPerRound] = [1_000, 100_000 * share, 400 * share];
  const origin = await repository(dir, 100);
  await using short = await ExecutingPlan.start(join(dir, "few"), origin);
  await using long = await ExecutingPlan.start(join(dir, "many"), origin);
  await short.recordMany(few);
  await long.recordMany(many);
  const side = (plan: ExecutingPlan) => (round: number) =>
    timed(() => parallel(16, writesPerRound, (index) => plan.write(`more/${round}/${index}.txt`, text(round, index))));
  await compare(rounds, {
    what: `write_file with ${grouped(many)} changes recorded before it, 16 at once`,
    aim: 1.3,
    unit: { name: "µs a file", perMs: 1_000 / writesPerRound },
    ours: side(long),
    peer: { name: `with ${grouped(few)}`, run: side(short) },
  });
}

/** No aim was set for these; a command costs two looks, and what it changed is recorded with the bytes from before. */
export async function looks(dir: string, { rounds, share }: ChangesSize): Promise<void> {
  const [files, changed] = [20_000 * share, 1_000 * share];
  const origin = await repository(dir, files);
  await using plan = await ExecutingPlan.start(dir, origin);
  const first = await timed(() => plan.shell("true"));
  const again: number[] = [];
  for (let round = 0; round < rounds; round += 1) again.push(await timed(() => plan.shell("true")));
  const many = await timed(() => plan.shell(`sed -i s/7/8/ ${firstFiles(changed)}`));
  console.log(`\na command in a sandbox of ${grouped(files)} files, ms`);
  console.log(
    table([
      ["first, everything is read", grouped(first)],
      ["later, changes nothing", grouped(summarize(again).median)],
      [`one that changes ${grouped(changed)} files`, grouped(many)],
    ]),
  );
}
