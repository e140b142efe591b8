import { join } from "node:path";
import { expect, test } from "vitest";
import { seededRandom } from "../../testing/random.ts";
import { indexFileFor } from "../index/index-database.ts";
import { everythingIn, IndexedDirectory } from "../testing/indexed-directory.ts";
import { openScopedIndex } from "../search/open-scoped-index.ts";
import { RandomTree } from "../testing/random-tree.ts";
import { sized } from "../../testing/size.ts";

test(
  "after any edits, renames, deletes, changes of mode and switches of branch the index is what a rebuild makes",
  { timeout: sized({ normal: 60_000, full: 1_200_000 }) },
  async () => {
    const seed = Number(process.env["CLEVERAGENTS_TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 32));
    const random = seededRandom(seed);
    using directory = new IndexedDirectory();
    const tree = new RandomTree(directory.root, random);
    const rounds = sized({ quick: 2, normal: 6, full: 100 });
    for (let round = 0; round < rounds; round += 1) {
      for (let edit = 0; edit < 10; edit += 1) {
        tree.change();
        // Sometimes several changes come between two looks, sometimes a look between two changes.
        if (random() < 0.2) await directory.sync();
      }
      using kept = await directory.open();
      const fresh = indexFileFor(join(directory.home, `fresh-${round}`), directory.root);
      const { generation } = await directory.sync({ indexFile: fresh });
      using rebuilt = openScopedIndex({ trees: [directory.tree(generation, { index: fresh })] });
      expect({ seed, round, index: everythingIn(kept) }).toEqual({ seed, round, index: everythingIn(rebuilt) });
    }
  },
);
