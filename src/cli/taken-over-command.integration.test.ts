/**
 * An owner that is stopped, not dead, in the middle of a command: the command has its own session and continues.
 * Another process takes the plan over once the lease has lapsed; later writes of the old command are in no plan's
 * result.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { OnlyBackend, workingBackends } from "../confinement/testing/backends.ts";
import { Agents } from "./testing/agents.ts";

const COMMAND = "echo $$ > $HOME/begun; sleep 4; echo line >> s.txt";
const backends = await workingBackends();

test.skipIf(backends.length === 0).each(backends)(
  "the command of a stopped owner ends at the takeover (%s)",
  async (backend) => {
    using only = new OnlyBackend(backend);
    using agents = new Agents();
    agents.inOwnProcess({ PATH: only.path });
    const id = await planFor(agents);
    const home = join(agents.dataDir, "sandboxes", id, "1", "api");

    const first = agents.start(["plan", "execute", id, "--format", "json"]);
    while (!existsSync(join(home, "home/begun"))) await sleep(10);
    first.child.kill("SIGSTOP");
    lapse(agents);
    const second = await agents.json("plan", "execute", id);
    first.child.kill("SIGCONT");
    const late = await first.finished;

    expect(second.data).toMatchObject({ state: "complete" });
    expect(late.code).not.toBe(0);
    expect(late.stdout).toContain("STALE_LEASE");
    const { data } = await agents.json("plan", "diff", id);
    expect(String(data["patch"]).match(/^\+line$/gm)).toHaveLength(1);
    expect((await agents.json("plan", "apply", id, "--yes")).exit_code).toBe(0);
    expect(readdirSync(join(agents.directory, "repository"))).toContain("s.txt");
  },
);

async function planFor(agents: Agents): Promise<string> {
  const repository = join(agents.directory, "repository");
  mkdirSync(repository);
  writeFileSync(join(repository, "a.txt"), "one\n");
  const author = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
  for (const args of [
    ["init", "--quiet"],
    ["add", "--all"],
    [...author, "commit", "--quiet", "--message=first"],
  ])
    execFileSync("git", args, { cwd: repository });
  const step = `  - { id: long, tool: shell_execute, params: { command: "${COMMAND}" } }\n`;
  agents.write("actor.yaml", `name: worker\ntype: tool\ndescription: works\nsteps:\n${step}`);
  agents.write(
    "action.yaml",
    "name: work\ndescription: Work\ndefinition_of_done: Done\nexecution_actor: local/worker\n",
  );
  await agents.json("actor", "add", "--config", "actor.yaml");
  await agents.json("action", "create", "--config", "action.yaml");
  await agents.json("resource", "add", "git-checkout", "api", "--path", repository);
  await agents.json("project", "create", "shop", "--resource", "api");
  const { data } = await agents.json("plan", "use", "work", "shop");
  return String(data["plan_id"]);
}

/** Lets the lease lapse at once. */
function lapse(agents: Agents): void {
  using database = new DatabaseSync(agents.database, { timeout: 5_000 });
  database.exec("UPDATE leases SET expires_at = 0");
}
