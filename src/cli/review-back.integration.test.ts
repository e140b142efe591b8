/** Rejected changes go back to the model with their reasons, in the same conversation; a person reviews by keys. */
import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { runCli } from "./run-cli.ts";
import { capturedIo } from "./testing/captured-io.ts";
import { SessionWorld, writing } from "./testing/session-world.ts";
import { stepTurn, strategyTurn, turn } from "./testing/thinking-world.ts";

const TWO = Array.from({ length: 30 }, (_, index) => `${index + 1}\n`).join("");

test("a rejection becomes guidance of the same plan, which continues in its sandbox; accepted changes stay accepted", async () => {
  using world = new SessionWorld();
  await world.answering(
    ...writing("two files", "a.txt", TWO),
    turn({
      match: { user: "a.txt (rejected: only even numbers)" },
      tool_calls: [{ tool: "edit_file", parameters: { path: "a.txt", old: "1\n2\n3\n", new: "2\n" } }],
    }),
    turn({ match: { tool: "edit_file" }, text: "Only even numbers now." }),
  );
  const made = await world.asked("two files");
  const id = String(made.data["plan_id"]);
  const nothing = await world.said("plan", "review", id, "--send-back");
  expect([nothing.exit_code, nothing.error?.kept]).toEqual([2, "The review is kept."]);
  await world.said("plan", "review", id, "--reject", "a.txt", "-m", "only even numbers");
  const back = await world.said("plan", "review", id, "--send-back");
  expect(back.data).toMatchObject({ sent_back: true, next_steps: [`agents plan execute ${id}`] });
  const again = await world.said("plan", "review", id, "--send-back");
  expect(again.exit_code).not.toBe(0);
  const more = await world.said("plan", "execute", id);
  expect(more.exit_code).toBe(0);
  const { data } = await world.said("plan", "review", id, "--list");
  // Another content is another change.
  expect(data["summary"]).toEqual({ accepted: 0, rejected: 0, undecided: 1 });
  const { data: diff } = await world.said("plan", "diff", id);
  expect(String(diff["patch"])).toContain("+2\n+4\n");
});

test("after a partial apply the rest goes to a new plan of the same session, whose model is told the reason", async () => {
  using world = new SessionWorld();
  const step = { id: "write", description: "Write both", risk: 0.1, confidence: 0.9 };
  const write = (path: string) => ({ tool: "write_file", parameters: { path, content: `${path}\n` } });
  await world.answering(
    strategyTurn([step], { match: { user: "Decide how this is done: two files" } }),
    stepTurn("write", { tool_calls: [write("a.txt"), write("b.txt")] }),
    stepTurn("write", { match: { tool: "write_file" }, text: "Both are written." }),
    ...writing("Your changes were reviewed", "c.txt"),
  );
  const id = String((await world.asked("two files")).data["plan_id"]);
  await world.said("plan", "review", id, "--accept", "a.txt");
  await world.said("plan", "review", id, "--reject", "b.txt", "-m", "call it c.txt");
  expect((await world.said("plan", "apply", id, "--accepted", "--yes")).data).toMatchObject({ changes_left: 1 });
  const back = await world.said("plan", "review", id, "--send-back");
  expect(back.data).toMatchObject({ sent_back: true, plan_id: id });
  const [next = ""] = back.data["next_steps"] as string[];
  const later = next.replace("agents plan execute ", "");
  expect(later).not.toBe(id);
  expect((await world.said("session", "show", "last")).data).toMatchObject({ plans: 2 });
  const executed = await world.said("plan", "execute", later);
  expect(executed.exit_code).toBe(0);
  const { data } = await world.said("plan", "explain", later, "strategy", "--show-context");
  expect(JSON.stringify(data)).toContain("b.txt (rejected: call it c.txt)");
});

/** Types an answer to each question. */
async function typed(world: SessionWorld, words: readonly string[], answers: readonly string[]) {
  const io = capturedIo({ env: { CLEVERAGENTS_DATA_DIR: world.dataDir, NO_COLOR: "1" }, cwd: world.repository });
  const input = Object.assign(new PassThrough(), { isTTY: true });
  let seen = "";
  let at = 0;
  const stderr = {
    isTTY: true,
    columns: 80,
    write: (text: string) => {
      seen += text;
      if (/(?:\?|:) $/.test(stripVTControlCharacters(seen)) && at < answers.length) {
        const answer = answers[at] ?? "";
        at += 1;
        seen += "⏎";
        setTimeout(() => input.write(`${answer}\r`), 30);
      }
      return true;
    },
  };
  const code = await runCli(words, { ...io, stdin: input, stderr });
  return { code, seen: stripVTControlCharacters(seen), stdout: io.written.stdout };
}

test("on a terminal each change is shown and answered by a key; what was answered is kept when one stops", async () => {
  using world = new SessionWorld();
  await world.answering(...writing("two files", "a.txt", TWO));
  const id = String((await world.asked("two files")).data["plan_id"]);
  const stopped = await typed(world, ["plan", "review", id], ["?", "c", "looks long", "q"]);
  expect(stopped.seen).toContain("a.txt (1 of 1)");
  expect(stopped.seen).toContain("+30");
  expect(stopped.seen).toContain("by write-a-txt › write_file: Write a.txt");
  expect(stopped.seen).toContain("n reject, with a reason");
  const { data: first } = await world.said("plan", "review", id, "--list");
  expect(first).toMatchObject({ revision: 1, files: [{ changes: [{ verdict: "undecided", comment: "looks long" }] }] });
  const done = await typed(world, ["plan", "review", id], ["n", "too long"]);
  expect([done.code, done.stdout.includes("rejected")]).toEqual([0, true]);
  expect(done.stdout).toContain(`next: agents plan review ${id} --send-back`);
  const { data } = await world.said("plan", "review", id, "--list");
  expect(data).toMatchObject({ files: [{ changes: [{ verdict: "rejected", reason: "too long" }] }] });
});
