import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { ChangesetStore } from "../../src/ledger/changesets.ts";
import { diffOf } from "../../src/changes/diff-cache.ts";
import { diffChanges } from "../../src/changes/diff-of-plan.ts";
import { planChanges } from "../../src/changes/plan-changes.ts";
import { compare } from "../compare.ts";
import { grouped, timed } from "../measure.ts";
import { executedPlan, storeFor } from "./executed-plan.ts";
import { type ChangesSize, firstFiles, git, repository } from "./world.ts";

/**
 * The work of `agents plan diff` once a plan is executed and its diff is cached: the plan's changes are read and their
 * diff is found. And the making itself, from the recorded bytes alone. The peer has both sides as commits of the user's
 * repository, so it reads the same bytes from a pack.
 */
export async function diffs(dir: string, { rounds, share }: ChangesSize): Promise<void> {
  const changed = 1_000 * share;
  const command = `sed -i -e 's/line 7 /another line /' -e '$ a one more' ${firstFiles(changed)}`;
  const [origin, data] = [await repository(dir, changed), join(dir, "data")];
  await using store = await storeFor(data, origin);
  const started = performance.now();
  const { plan } = await executedPlan(store, data, { name: "change", command });
  const execution = performance.now() - started;
  const changes = (): ReturnType<typeof planChanges> => planChanges(store, plan.id, plan.attempt);
  const first = await timed(async () => diffOf(store, await changes()));
  await promisify(execFile)("sh", ["-c", command], { cwd: origin });
  await git(origin, "commit", "--quiet", "--all", "--message=changed");
  await git(origin, "gc", "--quiet");
  const texts = { kept: "", made: "", git: "" };
  const peer = {
    name: "git diff",
    run: () => timed(async () => (texts.git = await git(origin, "diff", "HEAD~1", "HEAD"))),
  };
  const unit = { name: "ms", perMs: 1 };
  await compare(rounds, {
    what: `plan diff of ${grouped(changed)} changed files after plan execute`,
    aim: 1.5,
    unit,
    ours: () => timed(async () => (texts.kept = (await diffOf(store, await changes())).patch)),
    peer,
  });
  await compare(rounds, {
    what: `the diff of ${grouped(changed)} changed files, made from the record`,
    aim: undefined,
    unit,
    ours: () => timed(async () => (texts.made = (await diffChanges(new ChangesetStore(store), await changes())).patch)),
    peer,
  });
  console.log(
    `plan execute took ${grouped(execution)} ms; to make the diff for the first time and keep it, ${grouped(first)} ms more`,
  );
  for (const text of [texts.kept, texts.made])
    if (text.trim() !== texts.git.trim()) throw new Error("the two diffs are not the same");
}
