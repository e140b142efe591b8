import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listedPlans, searchPlans } from "../app/queries/listed-plans.ts";
import type { PlanId } from "../domain/names/ids.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import type { Reader } from "../store/port.ts";
import { openStore } from "../store/sqlite/open-store.ts";
import { makeRepository } from "../testing/git-repository.ts";
import { SessionWorld, writing } from "./testing/session-world.ts";
import { stepTurn, strategyTurn } from "./testing/thinking-world.ts";

/** Finding one's plans again: by what was asked, where, and what they wait for. */

function plansOf({ data }: { readonly data: Record<string, unknown> }): Record<string, unknown>[] {
  return data["plans"] as Record<string, unknown>[];
}

test("a plan is listed by its request, with where it stands, its files and its cost", async () => {
  using world = new SessionWorld();
  await world.answering(...writing("write a note", "note.txt"));
  const { data } = await world.asked("write a note");
  const listed = await world.said("plan", "list");
  expect(plansOf(listed)).toMatchObject([
    {
      plan_id: data["plan_id"],
      number: 1,
      request: "write a note",
      standing: "ready to review",
      phase: "execute",
      state: "complete",
      here: true,
      changed_files: 1,
      cost: { calls: 3 },
    },
  ]);
  expect(plansOf(listed)[0]).not.toHaveProperty("id");
  const { stdout } = await world.run(["plan", "list"], { cwd: world.repository });
  expect(stdout).toMatch(/#\s+REQUEST\s+STATE\s+FILES\s+COST\s+AGE\s+PLAN/);
  expect(stdout).toMatch(/1\s+write a note\s+ready to review\s+1\s+\$0\.\d+\s+now\s+01/);
  const id = String(data["plan_id"]);
  const status = async (): Promise<unknown> => (await world.said("plan", "status", id)).data["standing"];
  expect(await status()).toBe("ready to review");
  await world.said("plan", "apply", id, "--yes");
  expect(plansOf(await world.said("plan", "list"))).toMatchObject([{ standing: "applied", changed_files: 1 }]);
  await world.said("plan", "undo", id, "--yes");
  expect(plansOf(await world.said("plan", "list"))).toMatchObject([{ standing: "undone", state: "applied" }]);
  expect(await status()).toBe("undone");
  expect((await world.run(["plan", "status", id])).stdout).toMatch(/state:\s+undone/);
});

test("the search matches the request and the state as people say it", async () => {
  using world = new SessionWorld();
  await world.answering(...writing("write a note", "note.txt"), ...writing("add a license", "LICENSE"));
  await world.asked("write a note");
  await world.asked("add a license");
  const requests = async (...words: string[]): Promise<unknown[]> =>
    plansOf(await world.said("plan", "list", ...words)).map(({ request }) => request);
  expect(await requests()).toEqual(["add a license", "write a note"]);
  expect(await requests("LICENSE")).toEqual(["add a license"]);
  expect(await requests("ready to review")).toHaveLength(2);
  expect(await requests("stopped")).toEqual([]);
});

test("plans of the directory come first, and alone with --here", async () => {
  using world = new SessionWorld();
  const other = makeRepository(join(world.directory, "other"));
  await world.answering(...writing("write here", "a.txt"), ...writing("write there", "b.txt"));
  await world.asked("write here");
  const elsewhere = ["run", "write there", "--automation-profile", "trusted"];
  await world.run(elsewhere, { cwd: other });
  const listed = plansOf(await world.said("plan", "list"));
  expect(listed).toMatchObject([
    { request: "write here", here: true, project: "local/shop" },
    { request: "write there", here: false, project: "local/other" },
  ]);
  expect(plansOf(await world.said("plan", "list", "--here"))).toMatchObject([{ request: "write here" }]);
  expect(plansOf(await world.said("plan", "list", "--limit", "1"))).toMatchObject([{ request: "write here" }]);
  mkdirSync(join(other, "deep"));
  const { stdout } = await world.run(["plan", "list"], { cwd: join(other, "deep") });
  expect(stdout.split("\n").slice(1, 3)).toEqual([
    expect.stringMatching(/^2\s+write there\s+ready to review\s+here/),
    expect.stringMatching(/^1\s+write here\s+ready to review\s+local\/shop/),
  ]);
  const nowhere = await world.run(["plan", "list", "--here", "--format", "json"], { cwd: world.directory });
  expect(JSON.parse(nowhere.stdout)).toMatchObject({ data: { plans: [], summary: { total: 0 } } });
});

test("a plan whose process died is stopped, not working", async () => {
  using world = new SessionWorld();
  await world.answering(...writing("write a note", "note.txt"));
  const { data } = await world.said("run", "write a note", "--automation-profile", "manual");
  const id = String(data["plan_id"]) as PlanId;
  expect(plansOf(await world.said("plan", "list"))).toMatchObject([{ standing: "waiting for you" }]);
  await using store = await openStore(`sqlite:${world.database}`);
  const service = new PlanLifecycleService({ store });
  await service.executePlan(id);
  const lease = await service.startExecute(id);
  expect(plansOf(await world.said("plan", "list"))).toMatchObject([{ standing: "working", state: "processing" }]);
  lease.stop();
  // As a kill leaves it: a lease that has not run out, of a process that is gone.
  await store.transaction((tx) =>
    tx.run("UPDATE leases SET process = REPLACE(process, ?, ?)", `${process.pid}`, "4194304"),
  );
  expect(plansOf(await world.said("plan", "list"))).toMatchObject([{ standing: "stopped", state: "processing" }]);
  expect((await world.said("plan", "status", id)).data).toMatchObject({ standing: "stopped" });
  expect((await world.said("session", "list")).data).toMatchObject({ sessions: [{ state: "stopped" }] });
});

test("files that are again as they were do not count, and a renamed one counts once", async () => {
  using world = new SessionWorld();
  const step = { id: "move", description: "Move it", risk: 0.1, confidence: 0.9 };
  const calls = [
    { tool: "write_file", parameters: { path: "scratch.txt", content: "x\n" } },
    { tool: "delete_file", parameters: { path: "scratch.txt" } },
    { tool: "rename_file", parameters: { from: "a.txt", to: "b.txt" } },
    { tool: "write_file", parameters: { path: "c.txt", content: "y\n" } },
  ];
  writeFileSync(join(world.repository, "a.txt"), "one\n");
  await world.answering(
    strategyTurn([step], { match: { user: "Decide how this is done: tidy up" } }),
    stepTurn(step.id, { tool_calls: calls }),
    stepTurn(step.id, { match: { tool: "write_file" }, text: "Done." }),
  );
  const { error } = await world.asked("tidy up", "--include-dirty");
  expect(error).toBeUndefined();
  const [listed] = plansOf(await world.said("plan", "list"));
  const { data } = await world.said("plan", "diff", String(listed?.["plan_id"]));
  expect(listed).toMatchObject({ changed_files: (data["files"] as unknown[]).length });
});

test("an empty list says how to begin, once", async () => {
  using world = new SessionWorld();
  const { stdout } = await world.run(["plan", "list"], { cwd: world.repository });
  expect(stdout).toBe('No plans.\nnext: agents run "<what you want done>"\n');
});

test("a list of 30 plans takes as many statements as a list of 3", async () => {
  using world = new SessionWorld();
  await world.withPlan();
  await using store = await openStore(`sqlite:${world.database}`);
  const service = new PlanLifecycleService({ store });
  for (let issue = 1; issue < 30; issue += 1) {
    await service.useAction({ action: "fix-bug", projects: ["shop"], arguments: { issue } });
  }
  const statements = async (limit: number): Promise<number> => {
    let count = 0;
    await store.read(async (reader) => {
      const counting: Reader = {
        ...reader,
        get: (...all: Parameters<Reader["get"]>) => ((count += 1), reader.get(...all)) as never,
        all: (...all: Parameters<Reader["all"]>) => ((count += 1), reader.all(...all)) as never,
      };
      const found = await searchPlans(counting, { filter: {}, first: [], only: false, limit });
      expect(await listedPlans(counting, found)).toHaveLength(limit);
    });
    return count;
  };
  expect(await statements(30)).toBe(await statements(3));
});
