import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { compare } from "../compare.ts";
import { grouped, timed } from "../measure.ts";
import { executedPlan, storeFor } from "./executed-plan.ts";
import { type ChangesSize, firstFiles, git, repository } from "./world.ts";

/**
 * Each side has a repository of its own, with the same history. The peer's branch is made in another work tree, so that
 * its files and index are as untouched before the merge as ours are before the apply. Ours does more: it takes the
 * recorded bytes into the repository, looks at each file it replaces, journals both sides durably, and can be stopped
 * anywhere.
 */
export async function applies(dir: string, { rounds, share }: ChangesSize): Promise<void> {
  const changed = 1_000 * share;
  const [ours, peer] = [
    await repository(join(dir, "ours"), 2 * changed),
    await repository(join(dir, "peer"), 2 * changed),
  ];
  await using store = await storeFor(join(dir, "data"), ours);
  const author = join(dir, "author");
  await git(peer, "worktree", "add", "--quiet", "--detach", author);
  await compare(rounds, {
    what: `the apply of ${grouped(changed)} changed files in ${grouped(2 * changed)}`,
    aim: 2,
    unit: { name: "ms", perMs: 1 },
    ours: async (round) => {
      const { apply } = await executedPlan(store, join(dir, "data"), {
        name: `round-${round}`,
        command: nextRound(round, changed),
      });
      return timed(apply);
    },
    peer: {
      name: "git merge --no-ff",
      run: async (round) => {
        await git(author, "checkout", "--quiet", "-B", `round-${round}`, await git(peer, "rev-parse", "HEAD"));
        await promisify(execFile)("sh", ["-c", nextRound(round, changed)], { cwd: author });
        await git(author, "commit", "--quiet", "--all", "--message=changed");
        return timed(() => git(peer, "merge", "--quiet", "--no-ff", "--message=merged", `round-${round}`));
      },
    },
  });
  const [own, theirs] = [await landed(ours), await landed(peer)];
  if (own !== theirs) throw new Error("apply and merge did not lead to the same files");
}

/** In half of the directories each line of each file changes; `text` says in which round it is. */
function nextRound(round: number, changed: number): string {
  return `sed -i 's/in round .*/in round ${round + 1}/' ${firstFiles(changed)}`;
}

/** The tree that HEAD has, once git has found the work tree to be the same. */
async function landed(repositoryPath: string): Promise<string> {
  const status = await git(repositoryPath, "status", "--porcelain");
  if (status !== "") throw new Error(`the work tree is not what was committed: ${status.slice(0, 200)}`);
  return git(repositoryPath, "rev-parse", "HEAD^{tree}");
}
