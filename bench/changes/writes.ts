import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { compare } from "../compare.ts";
import { grouped, parallel, summarize, table, timed } from "../measure.ts";
import { ExecutingPlan } from "./executing-plan.ts";
import { repository, text } from "./world.ts";

const WRITES_PER_ROUND = 400;

/** Both sides write new files of the same bytes, 2 KB each, into one directory per round. */
export async function writes(dir: string, rounds: number): Promise<void> {
  await using plan = await ExecutingPlan.start(dir, await repository(dir, 100));
  for (const atOnce of [1, 16]) {
    await compare(rounds, {
      what: `write_file, ${atOnce === 1 ? "one at a time" : `${atOnce} at once`}, ${WRITES_PER_ROUND} files of 2 KB per round`,
      aim: atOnce === 16 ? 2 : undefined,
      unit: { name: "µs a file", perMs: 1_000 / WRITES_PER_ROUND },
      ours: (round) =>
        timed(() =>
          parallel(atOnce, WRITES_PER_ROUND, (index) =>
            plan.write(`${atOnce}/${round}/${index}.txt`, text(round, index)),
          ),
        ),
      peer: {
        name: "write and fsync",
        run: async (round) => {
          const directory = join(dir, "bare", `${atOnce}`, `${round}`);
          await mkdir(directory, { recursive: true });
          return timed(() =>
            parallel(atOnce, WRITES_PER_ROUND, (index) =>
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

const FEW = 1_000;
const MANY = 100_000;

/** The same write into changesets that hold few and many entries, each in a store of its own. */
export async function growth(dir: string, rounds: number): Promise<void> {
  const origin = await repository(dir, 100);
  await using few = await ExecutingPlan.start(join(dir, "few"), origin);
  await using many = await ExecutingPlan.start(join(dir, "many"), origin);
  await few.recordMany(FEW);
  await many.recordMany(MANY);
  const side = (plan: ExecutingPlan) => (round: number) =>
    timed(() =>
      parallel(16, WRITES_PER_ROUND, (index) => plan.write(`more/${round}/${index}.txt`, text(round, index))),
    );
  await compare(rounds, {
    what: `write_file with ${grouped(MANY)} changes recorded before it, 16 at once`,
    aim: 1.3,
    unit: { name: "µs a file", perMs: 1_000 / WRITES_PER_ROUND },
    ours: side(many),
    peer: { name: `with ${grouped(FEW)}`, run: side(few) },
  });
}

/** No aim was set for these; a command costs two looks, and what it changed is recorded with the bytes from before. */
export async function looks(dir: string, rounds: number): Promise<void> {
  const origin = await repository(dir, 20_000);
  await using plan = await ExecutingPlan.start(dir, origin);
  const first = await timed(() => plan.shell("true"));
  const again: number[] = [];
  for (let round = 0; round < rounds; round += 1) again.push(await timed(() => plan.shell("true")));
  const many = await timed(() => plan.shell("for d in 00 01 02 03 04 05 06 07 08 09; do sed -i s/7/8/ $d/*; done"));
  console.log("\na command in a sandbox of 20,000 files, ms");
  console.log(
    table([
      ["first, everything is read", grouped(first)],
      ["later, changes nothing", grouped(summarize(again).median)],
      ["one that changes 1,000 files", grouped(many)],
    ]),
  );
}
