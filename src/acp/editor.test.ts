import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, FIX, LoopWorld, step, strategy } from "../app/testing/loop-world.ts";
import { choose, editorOn } from "./testing/editor.ts";

/** The official client of the protocol on one end, the scripted model and a real repository on the other. */
const TURNS = [
  strategy(FIX),
  step("fix", { match: { tool: "edit_file" }, text: "The file is fixed." }),
  step("fix", {
    match: { tool: "read_file" },
    text: "It says two.",
    ...calls("edit_file", { path: "a.txt", old_string: "two", new_string: "2" }),
  }),
  step("fix", { thought: "Where is it?", ...calls("read_file", { path: "a.txt" }) }),
];

function world(): LoopWorld {
  const made = new LoopWorld();
  made.script(...TURNS);
  return made;
}

test("a request goes from the strategy over two permissions to a commit in the user's repository", async () => {
  await using loop = world();
  await using editor = await editorOn(loop);
  const session = await editor.open(loop.repository);
  expect(await editor.prompt(session, "fix a.txt")).toBe("end_turn");
  expect(editor.permissions.map(({ toolCall: { kind, title } }) => [kind, title])).toEqual([
    ["think", "Run this plan?"],
    ["edit", "Apply 1 file (+1 −1)?"],
  ]);
  const [, apply] = editor.permissions;
  const place = join(loop.repository, "a.txt");
  expect(apply?.toolCall.content?.[0]).toEqual({
    type: "diff",
    path: place,
    oldText: "one\ntwo\n",
    newText: "one\n2\n",
  });
  expect(apply?.toolCall.locations).toEqual([{ path: place }]);
  expect(editor.of("plan").map(({ entries }) => entries.map(({ status }) => status))).toEqual(
    expect.arrayContaining([["pending"], ["in_progress"], ["completed"]]),
  );
  expect(editor.of("tool_call").filter(({ name }) => name === "edit_file")).toMatchObject([
    { kind: "edit", locations: [{ path: place }] },
  ]);
  expect(
    editor
      .of("agent_thought_chunk")
      .map(({ content }) => (content as { text: string }).text)
      .join(""),
  ).toContain("Where is it?");
  expect(editor.said).toContain("It says two.");
  expect(editor.said).toMatch(/The file is fixed\.\s+Applied 1 file \(\+1 −1\) to \w+ \(commit \w+\)/);
  expect(readFileSync(place, "utf8")).toBe("one\n2\n");
  expect(JSON.stringify(editor.updates)).not.toContain("sandboxes/");
  expect(editor.of("session_info_update").at(-1)).toMatchObject({ title: "fix a.txt" });
});

test.each([
  ["keeps it", choose("reject_once")],
  ["cancels", () => ({ outcome: { outcome: "cancelled" } })],
  ["answers with a way that was not offered", () => ({ outcome: { outcome: "selected", optionId: "yes!" } })],
  ["answers nonsense", () => ({ agreed: true })],
])("nothing is carried out, and nothing lands, when the editor %s", async (_, answer) => {
  await using loop = world();
  await using editor = await editorOn(loop);
  const session = await editor.open(loop.repository);
  editor.answers = [answer];
  expect(await editor.prompt(session, "fix a.txt")).toBe("end_turn");
  expect(editor.permissions).toHaveLength(1);
  expect(editor.of("tool_call").filter(({ name }) => name === "edit_file")).toEqual([]);
  expect(editor.said).toContain("Nothing was carried out; the plan waits.");
  expect(readFileSync(join(loop.repository, "a.txt"), "utf8")).toBe("one\ntwo\n");
  expect(existsSync(join(loop.repository, ".git/refs/heads/agents"))).toBe(false);
});

test("a session that another process began is listed, and loaded with all that was said and done", async () => {
  await using loop = world();
  const first = await editorOn(loop);
  const session = await first.open(loop.repository);
  await first.prompt(session, "fix a.txt");
  await first[Symbol.asyncDispose]();
  await using editor = await editorOn(loop);
  const { sessions } = await editor.agent.request("session/list", { cwd: loop.repository });
  expect(sessions).toMatchObject([{ sessionId: session, cwd: loop.repository, title: "fix a.txt" }]);
  await editor.agent.request("session/load", { sessionId: session, cwd: loop.repository, mcpServers: [] });
  expect(editor.of("user_message_chunk")).toMatchObject([{ content: { text: "fix a.txt" } }]);
  expect(editor.said).toContain("It says two.");
  expect(editor.said).toContain("Applied 1 file (+1 −1) to ");
  expect(editor.of("tool_call").map(({ name, status }) => [name, status])).toEqual([
    ["read_file", "completed"],
    ["edit_file", "completed"],
  ]);
  expect(editor.of("tool_call")[1]?.locations).toEqual([{ path: join(loop.repository, "a.txt") }]);
  expect(editor.of("plan").at(-1)?.entries).toMatchObject([{ content: "Fix it", status: "completed" }]);
  await editor.until(() => editor.of("available_commands_update").length > 0);
  expect(await editor.prompt(session, "/undo")).toBe("end_turn");
  expect(readFileSync(join(loop.repository, "a.txt"), "utf8")).toBe("one\ntwo\n");
});
