/** The bytes of a context do not depend on how busy the machine is. */
import { rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { generatedCode } from "../context/testing/generated-code.ts";
import { CodeWorld } from "./testing/code-world.ts";

const PACKS = 20;
const AT_ONCE = 4;

test("twenty packs of one question are the same bytes while all processors are busy", async () => {
  using world = new CodeWorld();
  const { agents, repository } = world;
  for (const { path, text } of generatedCode()) world.write(path, text);
  const directories = ["one", "other"].map((name) => join(agents.directory, name));
  const pack = async (dataDir = "") => {
    const { code, stdout, stderr } = await agents.run(
      ["context", "pack", "--budget", "6k", "how does settleInvoice compare the margin of a voucher?"],
      { cwd: repository, env: { CLEVERAGENTS_DATA_DIR: dataDir } },
    );
    const notes = stderr.split("\n").filter((line) => !/^(?:indexing .*|.* was indexed: .*)$/.test(line));
    return { code, stdout, notes };
  };
  const calm = await pack(directories[0]);
  expect(calm.code).toBe(0);
  expect(calm.notes).toContainEqual(expect.stringContaining("Left out for lack of space"));

  await using _ = busyProcessors();
  for (let first = 0; first < PACKS; first += AT_ONCE) {
    // Otherwise they would be answered from the contexts that are stored.
    for (const directory of directories) rmSync(join(directory, "index", "contexts"), { recursive: true, force: true });
    const packs = Array.from({ length: AT_ONCE }, (__, at) => pack(directories[at % directories.length]));
    for (const packed of await Promise.all(packs)) expect(packed).toEqual(calm);
  }
}, 600_000);

/** More threads that never rest than there are processors. */
function busyProcessors(): AsyncDisposable {
  const threads = Array.from(
    { length: availableParallelism() * 3 },
    () => new Worker("for (;;) Math.sqrt(2);", { eval: true }),
  );
  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.all(threads.map((thread) => thread.terminate()));
    },
  };
}
