import { rm } from "node:fs/promises";
import { join } from "node:path";
import { monotonicIds, type PlanId } from "../../src/domain/names/ids.ts";
import { openSandbox } from "../../src/execution/sandbox/sandbox.ts";
import { compare } from "../compare.ts";
import { grouped, timed } from "../measure.ts";
import { type ChangesSize, git, repository, target } from "./world.ts";

const AT_ONCE = 8;

export async function sandboxes(dir: string, { rounds, share }: ChangesSize): Promise<void> {
  for (const files of [2_000 * share, 10_000 * share]) {
    const origin = await repository(join(dir, `${files}`), files);
    const ids = monotonicIds();
    const make = async (): Promise<string> => {
      const place = { directory: join(dir, "sandboxes"), planId: ids() as PlanId, attempt: 1 };
      return (await openSandbox(place, target(origin))).root;
    };
    await compare(rounds, {
      what: `a sandbox of ${grouped(files)} files`,
      aim: 1.3,
      unit: { name: "ms", perMs: 1 },
      ours: async () => {
        const ms = await timed(make);
        await rm(join(dir, "sandboxes"), { recursive: true });
        return ms;
      },
      peer: {
        name: "git worktree add",
        run: async (round) => {
          const tree = join(dir, `worktree-${round}`);
          const ms = await timed(() => git(origin, "worktree", "add", "--quiet", "--detach", tree));
          await git(origin, "worktree", "remove", "--force", tree);
          return ms;
        },
      },
    });
    const ms = await timed(() => Promise.all(Array.from({ length: AT_ONCE }, make)));
    console.log(`${AT_ONCE} of them made at once, none failed: ${grouped(ms)} ms`);
    await rm(join(dir, "sandboxes"), { recursive: true });
  }
}
