import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeRepository } from "../testing/git-repository.ts";
import { SessionWorld, writing } from "./testing/session-world.ts";
import { strategyTurn } from "./testing/thinking-world.ts";

/** Sessions as a user has them: conversations over several plans. */

test("a request begins a session, which is found by its number, its id and by last", async () => {
  using world = new SessionWorld();
  await world.answering(...writing("write a note", "note.txt"));
  const { data, error } = await world.asked("write a note");
  expect(error).toBeUndefined();
  const id = String(data["session_id"]);
  const { data: list } = await world.said("session", "list");
  expect(list).toMatchObject({
    sessions: [
      {
        session_id: id,
        number: 1,
        title: "write a note",
        state: "ready to review",
        awaiting_input: null,
        project: "local/shop",
        directory: world.repository,
        plans: 1,
        last_plan: data["plan_id"],
        cost: { calls: 3 },
        forked_from: null,
        here: true,
      },
    ],
    summary: { total: 1, shown: 1 },
  });
  mkdirSync(join(world.repository, "deep/down"), { recursive: true });
  for (const [given, cwd] of [
    [id, world.directory],
    [id.slice(0, 10).toLowerCase(), world.directory],
    ["1", world.directory],
    ["last", world.repository],
    ["last", join(world.repository, "deep/down")],
  ] as const) {
    const { stdout } = await world.run(["session", "show", given, "--format", "json"], { cwd });
    expect([given, (JSON.parse(stdout) as { data: object }).data]).toEqual([
      given,
      expect.objectContaining({ session_id: id }),
    ]);
  }
  await world.said("plan", "apply", String(data["plan_id"]), "--yes");
  const { data: shown } = await world.said("session", "show", "1", "--decisions");
  expect(shown).toMatchObject({
    state: "applied",
    turns: [
      {
        turn: 1,
        plan_id: data["plan_id"],
        shared: false,
        request: "write a note",
        answer: "note.txt is written.",
        exchanges: [{ request: "write a note", answer: "note.txt is written." }],
        remarks: [],
        standing: "applied",
        changes: { files: [{ path: "note.txt", change: "added" }], insertions: 1, deletions: 0 },
        landings: [{ commit: world.head() }],
        cost: { calls: 3 },
      },
    ],
  });
  const [turn] = shown["turns"] as { decisions: { calls: { tool: string; outcome: string }[] }[] }[];
  expect(turn?.decisions.flatMap(({ calls }) => calls)).toMatchObject([{ tool: "write_file", outcome: "ok" }]);
});

test("an unknown session is not found, and each repository has its own last one", async () => {
  using world = new SessionWorld();
  await world.answering(...writing("write a note", "note.txt"));
  for (const given of ["last", "1", "01J", "7KZ"]) {
    const { exit_code: code, error } = await world.said("session", "show", given);
    expect([given, code, error?.suggestions]).toEqual([given, 3, expect.arrayContaining(["agents session list"])]);
  }
  expect((await world.said("session", "show", "no such id")).exit_code).toBe(2);
  await world.asked("write a note");
  const other = makeRepository(join(world.directory, "other"));
  const { stdout } = await world.run(["session", "show", "last", "--format", "json"], { cwd: other });
  expect(JSON.parse(stdout)).toMatchObject({ exit_code: 3 });
  const elsewhere = await world.run(["session", "list", "--here"], { cwd: other });
  expect(elsewhere.stdout).toContain("No sessions.");
});

const THIRD = "Decide how this is done: and now the third";

test("the third request of a session sees what was said in the first, and what became of it", async () => {
  using world = new SessionWorld();
  await world.answering(
    ...writing("remember the word heron", "one.txt"),
    ...writing("now the second", "two.txt"),
    strategyTurn([], {
      match: { user: THIRD },
      tool_calls: [{ tool: "record_strategy", parameters: { steps: [], answer: "The word was heron." } }],
    }),
  );
  const first = await world.asked("remember the word heron", "--yes");
  expect(first.error).toBeUndefined();
  const id = String(first.data["session_id"]);
  const second = await world.said("tell", "last", "now the second", "--yes");
  expect(second.error).toBeUndefined();
  expect(second.data).toMatchObject({ session_id: id, applied: true, automation_profile: "trusted" });
  const third = await world.said("tell", "1", "and now the third");
  expect(third.error).toBeUndefined();
  expect(third.data).toMatchObject({ session_id: id, answer: "The word was heron." });
  const plan = String(third.data["plan_id"]);
  const { data: shown } = await world.said("plan", "explain", plan, "strategy", "--show-context");
  expect(JSON.stringify(shown)).toContain("remember the word heron");
  const { data } = await world.said("session", "show", id);
  expect(data).toMatchObject({ state: "answered", plans: 3, turns: [{ turn: 1 }, { turn: 2 }, { turn: 3 }] });
});
