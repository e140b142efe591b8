/** The words of a call: those that are missing, those that are too many, and those that stand for standard input. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SessionWorld, writing } from "./testing/session-world.ts";

test("a missing argument is named with its meaning, one too many is refused, and a missing file is named", async () => {
  using world = new SessionWorld();
  const missing = await world.run(["plan", "use", "fix-bug"]);
  expect(missing).toMatchObject({ code: 2 });
  expect(missing.stderr).toContain("<project> is missing: the projects' names.");
  expect(missing.stderr).toContain("agents plan use --help");
  expect((await world.run(["plan", "prompt"])).stderr).toContain("<text> is missing: the answer or the guidance.");
  const many = await world.run(["plan", "list", "note", "extra"]);
  expect(many).toMatchObject({ code: 2, stdout: "" });
  expect(many.stderr).toContain("Too many arguments");
  const file = await world.run(["action", "create", "--config", "nowhere.yaml"]);
  expect(file).toMatchObject({
    code: 2,
    stderr: "error: There is no file nowhere.yaml.\nkept:  Nothing was written.\n",
  });
});

test("a request comes from standard input for -, and a model's context is found by the step and by the number", async () => {
  using world = new SessionWorld();
  await world.answering(...writing("write a note", "note.txt"));
  const words = ["run", "-", "--automation-profile", "trusted", "--format", "json"];
  const { stdout } = await world.run(words, { cwd: world.repository, input: "write a note\n" });
  expect(JSON.parse(stdout)).toMatchObject({ exit_code: 0, data: { changes: { files: 1 } } });
  const { data: tree } = await world.said("plan", "tree", "1");
  expect(tree["decision_ids"]).toHaveProperty("strategy");
  const shownTree = (await world.run(["plan", "tree", "1"])).stdout;
  expect(shownTree).toMatch(/NAME\n/);
  expect(shownTree).toContain("write-note-txt.1");
  const ids = tree["decision_ids"] as Record<string, string>;
  const explained = async (...given: string[]): Promise<unknown> =>
    ((await world.said("plan", "explain", "1", ...given)).data["decision"] as { id: string }).id;
  expect(await explained("1")).toBe(ids["root"]);
  expect(await explained("write-note-txt", "--show-context")).toBe(ids["write-note-txt.1"]);
  expect(await explained("root", "--show-context")).toBe(ids["strategy"]);
  expect((await world.said("plan", "explain", "1", "77")).exit_code).toBe(3);
});

test("a plan that is not executed cannot be applied, which is said before anyone is asked, with the way there", async () => {
  using world = new SessionWorld();
  await world.answering(...writing("write a note", "note.txt"));
  const { data } = await world.said("run", "write a note");
  const refused = await world.said("plan", "apply", "1");
  expect(refused).toMatchObject({
    exit_code: 4,
    error: {
      message: `The plan ${String(data["plan_id"])} is planned but not executed and cannot be sent to apply.`,
      suggestions: [`agents plan execute ${String(data["plan_id"])}`, `agents plan status ${String(data["plan_id"])}`],
    },
  });
  const wanted = await world.said("plan", "compare", "1");
  expect(wanted.error?.message).toContain(String(data["plan_id"]));
  expect((await world.said("plan", "choose", "1", "--yes")).error?.message).toContain(String(data["plan_id"]));
  expect(readFileSync(join(world.repository, "README"), "utf8")).toBe("hello\n");
});
