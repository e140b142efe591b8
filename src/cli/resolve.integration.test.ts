/** `plan resolve`: a side, a file, an editor or git's merge tool resolves the conflicts, and then the plan applies. */
import { chmodSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Envelope } from "./testing/agents.ts";
import { World, type Step } from "./testing/user-world.ts";

const LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
const api = (tool: Step[0], params: Step[1]): Step => [tool, { resource: "api", ...params }];
const edit = (path: string, old = "two\n", now = "PLAN\n"): Step => api("edit_file", { path, old, new: now });

/** Both have changed line two; the plan also line seven and another file, the user also line four. */
async function conflicting(...more: Step[]): Promise<{ world: World; id: string }> {
  const world = await World.make({ files: { "lines.txt": LINES, "other.txt": LINES } });
  const steps = [edit("lines.txt"), edit("lines.txt", "seven\n", "SEVEN\n"), edit("other.txt"), ...more];
  const id = await world.executed(
    ...steps.map(([tool, params], index) => [tool, params, { id: `s${index}` }] as const),
  );
  world.write({ "lines.txt": LINES.replace("two", "MINE").replace("four", "FOUR") });
  world.commit("mine");
  return { world, id };
}

const MERGED = LINES.replace("two", "MINE and PLAN").replace("four", "FOUR").replace("seven", "SEVEN");
const resolve = (world: World, id: string, ...words: string[]): Promise<Envelope> =>
  world.agents.json("plan", "resolve", id, ...words);

test("a merged file resolves the conflict: nothing is written before apply, and undo brings back the user's lines", async () => {
  const { world, id } = await conflicting();
  await using _ = world;
  world.agents.write("merged.txt", MERGED);
  const before = world.everything();
  const refused = await world.apply(id);
  expect(refused.error?.suggestions.slice(0, 3)).toEqual([
    `agents plan conflicts ${id}`,
    `agents plan resolve ${id}`,
    `agents plan apply ${id} --onto <branch>`,
  ]);
  const unasked = await resolve(world, id, "--file", "lines.txt=merged.txt");
  expect([unasked.exit_code, unasked.error?.message]).toEqual([
    2,
    "Resolve the conflicts so? There is no terminal to ask on.",
  ]);
  const answer = await resolve(world, id, "--file", "api/lines.txt=merged.txt", "--yes");
  expect([answer.exit_code, answer.data]).toMatchObject([
    0,
    { resolved: true, files: [{ resource: "api", path: "lines.txt", how: "merged" }] },
  ]);
  // The user's own lines do not belong to the plan.
  const patch = String(answer.data["patch"]);
  expect(patch).toContain("-MINE\n+MINE and PLAN\n");
  expect(patch).not.toMatch(/^[+-].*FOUR/m);
  expect(world.everything()).toEqual(before);
  expect((await world.agents.json("plan", "diff", id)).data["patch"]).toBe(patch);
  expect((await world.agents.json("plan", "status", id)).data["standing"]).toBe("ready to review");
  const applied = await world.apply(id);
  expect([applied.error, applied.exit_code]).toEqual([undefined, 0]);
  expect([world.read("lines.txt"), world.read("other.txt")]).toEqual([MERGED, LINES.replace("two", "PLAN")]);
  expect(await world.agents.json("audit", "verify")).toMatchObject({ exit_code: 0 });
  world.write({ "lines.txt": MERGED.replace("five", "FIVE") });
  world.commit("more");
  expect((await world.undo(id)).exit_code).toBe(0);
  const mine = LINES.replace("two", "MINE").replace("four", "FOUR");
  expect(world.read("lines.txt")).toBe(mine.replace("five", "FIVE"));
  expect((await world.redo(id)).exit_code).toBe(0);
  expect(world.read("lines.txt")).toBe(MERGED.replace("five", "FIVE"));
  // A step of a file that was merged by hand goes only with the whole file.
  expect((await world.agents.json("plan", "undo", id, "--decision", "s1", "--yes")).exit_code).toBe(0);
  expect([world.read("lines.txt"), world.read("other.txt")]).toEqual([
    mine.replace("five", "FIVE"),
    LINES.replace("two", "PLAN"),
  ]);
});

test("each line of a resolved file is credited to its author: the plan's step, or the resolution", async () => {
  const { world, id } = await conflicting();
  await using _ = world;
  world.agents.write("merged.txt", MERGED);
  await resolve(world, id, "--file", "lines.txt=merged.txt", "--yes");
  const { data } = await world.agents.json("plan", "diff", id, "--why");
  const hunks = data["hunks"] as { path: string; by: { step: string }[] }[];
  expect(hunks.map(({ path, by }) => [path, by.map(({ step }) => step)])).toEqual([
    ["lines.txt", ["resolve", "s1"]],
    ["other.txt", ["s2"]],
  ]);
  const { data: shown } = await world.agents.json("plan", "artifacts", id);
  expect(JSON.stringify(shown)).toContain('"resolve"');
});

test("a side is taken for each kind of conflict, and afterwards exactly that is in the files", async () => {
  const names = ["gone.txt", "kept.txt", "blob.bin", "mode.sh"];
  await using world = await World.make({
    files: { ...Object.fromEntries(names.map((name) => [name, LINES])), "blob.bin": Buffer.from([0, 1, 2]) },
  });
  const id = await world.executed(
    edit("gone.txt"),
    api("delete_file", { path: "kept.txt" }),
    api("delete_file", { path: "blob.bin" }),
    api("write_file", { path: "new.txt", content: "plan\n" }),
    edit("mode.sh"),
  );
  world.write({
    "kept.txt": LINES.replace("two", "MINE"),
    "blob.bin": Buffer.from([0, 9]),
    "new.txt": "mine\n",
    "mode.sh": LINES.replace("two", "MINE"),
  });
  rmSync(join(world.repository, "gone.txt"));
  chmodSync(join(world.repository, "mode.sh"), 0o755);
  world.commit("mine");
  Object.assign(world.agents.environment, { VISUAL: "", EDITOR: " " });
  const noLines = await resolve(world, id, "--edit", "--take-plan", "new.txt", "--yes");
  expect(noLines.error?.message).toBe("No editor is set: set VISUAL or EDITOR to the program that you edit with.");
  world.agents.environment["EDITOR"] = "true";
  expect((await resolve(world, id, "--edit", "--take-plan", "new.txt", "--yes")).error?.message).toContain(
    "has no lines to merge on both sides",
  );
  world.agents.write("mode.sh", "merged\n");
  const taken = ["--take-plan", "gone.txt", "--take-plan", "blob.bin", "--take-plan", "./new.txt"];
  const answer = await resolve(world, id, ...taken, "--take-yours", "kept.txt", "--file", "mode.sh=mode.sh", "--yes");
  expect([answer.error, answer.exit_code]).toEqual([undefined, 0]);
  expect((await world.apply(id)).error).toBeUndefined();
  expect(existsSync(join(world.repository, "blob.bin"))).toBe(false);
  expect(["gone.txt", "kept.txt", "new.txt", "mode.sh"].map((path) => world.read(path))).toEqual([
    LINES.replace("two", "PLAN"),
    LINES.replace("two", "MINE"),
    "plan\n",
    "merged\n",
  ]);
  expect(world.git("ls-files", "-s", "mode.sh")).toMatch(/^100755 /);
  expect((await world.undo(id)).exit_code).toBe(0);
  expect([existsSync(join(world.repository, "gone.txt")), world.read("new.txt")]).toEqual([false, "mine\n"]);
});

test("if the target moves again, the next apply conflicts again and loses nothing; it is resolved a second time", async () => {
  const { world, id } = await conflicting();
  await using _ = world;
  world.agents.write("merged.txt", MERGED);
  await resolve(world, id, "--file", "lines.txt=merged.txt", "--yes");
  const moved = LINES.replace("two", "MINE too").replace("four", "FOUR");
  world.write({ "lines.txt": moved });
  world.commit("again");
  const before = world.everything();
  expect((await world.apply(id)).error?.message).toContain("api/lines.txt was changed on both sides");
  expect(world.everything()).toEqual(before);
  const { data } = await world.agents.json("plan", "conflicts", id);
  expect(data["conflicts"]).toMatchObject([
    { kind: "lines", lines: [{ line: 2, base: ["MINE"], yours: ["MINE too"], plans: ["MINE and PLAN"] }] },
  ]);
  world.agents.environment["EDITOR"] = `sed -i -e '/^<<<<<<</,/^>>>>>>>/c BOTH'`;
  expect((await resolve(world, id, "--edit", "--yes")).exit_code).toBe(0);
  expect((await world.apply(id)).exit_code).toBe(0);
  expect(world.read("lines.txt")).toBe(moved.replace("MINE too", "BOTH").replace("seven", "SEVEN"));
  expect((await world.undo(id)).exit_code).toBe(0);
  expect(world.read("lines.txt")).toBe(moved);
});

test("git's merge tool gets the three sides, and a file that it leaves in conflict is not taken", async () => {
  const { world, id } = await conflicting();
  await using _ = world;
  expect((await resolve(world, id, "--tool", "--yes")).error?.message).toBe("Git is set to no merge tool.");
  const log = join(world.agents.directory, "sides.txt");
  const run = async (command: string): Promise<Envelope> => {
    for (const [key, value] of [
      ["merge.tool", "mine"],
      ["mergetool.mine.cmd", command],
      ["mergetool.mine.trustExitCode", "true"],
    ] as const)
      world.git("config", key, value);
    const { stdout } = await world.agents.run(["plan", "resolve", id, "--tool", "--yes", "--format", "json"], {
      cwd: world.repository,
    });
    return JSON.parse(stdout) as Envelope;
  };
  const files = (): string[] =>
    Object.entries(world.everything()).flatMap(([path, what]) =>
      path.endsWith(".git/config") ? [] : [`${path} ${what}`],
    );
  const before = files();
  expect((await run("exit 1")).error?.message).toContain("api/lines.txt was not merged: the program failed");
  expect((await run("true")).error?.message).toContain("api/lines.txt still has conflict markers");
  expect(files()).toEqual(before);
  expect(await run(`cat "$BASE" "$LOCAL" "$REMOTE" > '${log}'; cp "$REMOTE" "$MERGED"`)).toMatchObject({
    exit_code: 0,
  });
  expect((await world.apply(id)).exit_code).toBe(0);
  const plans = LINES.replace("two", "PLAN").replace("seven", "SEVEN");
  expect([world.read("lines.txt"), readFileSync(log, "utf8")]).toEqual([
    plans,
    `${LINES}${LINES.replace("two", "MINE").replace("four", "FOUR")}${plans}`,
  ]);
});
