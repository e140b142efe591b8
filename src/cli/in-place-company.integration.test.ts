/** Plans that work in place beside a person, beside other plans, and after they were killed. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { readTree, type Tree } from "../execution/testing/trees.ts";
import { seededRandom } from "../testing/random.ts";
import { ROOT } from "./testing/agents.ts";
import { InPlace, STEPS, UNSAFE } from "./testing/in-place.ts";
import { sized } from "../testing/size.ts";

/**
 * A git that lets a person act right before it answers this question, which a step asks when it has read the file that
 * it changes.
 */
function withPerson(world: InPlace, deed: string, question: "check-ignore" | "ls-files -s"): NodeJS.ProcessEnv {
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const directory = join(world.agents.directory, "bin");
  mkdirSync(directory);
  const once = join(directory, "done");
  const script = `#!/bin/sh
case "$*" in *"${question}"*) if [ ! -e "${once}" ]; then : > "${once}"; cd "${world.repository}"; ${deed}; fi;; esac
exec ${real} "$@"
`;
  writeFileSync(join(directory, "git"), script);
  chmodSync(join(directory, "git"), 0o755);
  return { PATH: `${directory}:${process.env["PATH"]}` };
}

const NEW = `  - { id: make, tool: write_file, params: { path: new.txt, content: "plan\\n" } }
  - { id: edit, tool: edit_file, params: { path: a.txt, old: two, new: "2" } }
`;

test("a file that a person makes while a step makes it is theirs; the step fails, and nothing of it is recorded", async () => {
  using world = new InPlace();
  const { agents } = world;
  const id = await world.unsafePlan(NEW);
  agents.inOwnProcess(withPerson(world, "echo mine > new.txt", "check-ignore"));
  const failed = await agents.json("plan", "execute", id);
  expect(failed).toMatchObject({ exit_code: 4, error: { code: "MERGE_CONFLICT" } });
  expect(failed.error?.kept).toContain("Their change is kept; the step changed nothing.");
  expect(world.read("new.txt")).toBe("mine\n");
  expect((await agents.json("plan", "artifacts", id)).data).toMatchObject({ artifacts: [] });
  expect(world.leftovers()).toEqual([]);
  // Tried again it sees the person's file, and says honestly what it replaces.
  expect((await agents.json("plan", "execute", id)).exit_code).toBe(0);
  expect(String((await agents.json("plan", "diff", id)).data["patch"])).toContain("-mine\n+plan\n");
  expect((await agents.json("plan", "undo", id, "--yes")).exit_code).toBe(0);
  expect(world.read("new.txt")).toBe("mine\n");
});

test("what a person saves in the same file while a step changes it is neither lost nor credited", async () => {
  using world = new InPlace();
  const { agents } = world;
  const id = await world.unsafePlan();
  const save = "printf 'one\\ntwo\\nmine\\n' > a.txt; echo mine > docs/other.txt";
  agents.inOwnProcess(withPerson(world, save, "ls-files -s"));
  const failed = await agents.json("plan", "execute", id);
  expect(failed).toMatchObject({ exit_code: 4, error: { code: "MERGE_CONFLICT" } });
  expect(failed.error?.message).toContain("a.txt was changed meanwhile");
  expect(world.read("a.txt")).toBe("one\ntwo\nmine\n");
  expect((await agents.json("plan", "artifacts", id)).data).toMatchObject({ artifacts: [] });
  expect(world.leftovers()).toEqual([]);

  expect((await agents.json("plan", "execute", id)).exit_code).toBe(0);
  expect(world.read("a.txt")).toBe("one\n2\nmine\n");
  const { data } = await agents.json("plan", "diff", id);
  expect(String(data["patch"])).not.toMatch(/^[+-]mine/m);
  // Later changes of a person to a recorded file are named, and are not an error of the plan.
  world.write("docs/new.txt", "new and mine\n");
  const applied = await agents.json("plan", "apply", id, "--yes");
  expect(applied).toMatchObject({ exit_code: 0, data: { changed_since: ["api/docs/new.txt"] } });
  expect(applied.messages.map(({ text }) => text).join()).toContain("Others changed these since");
  expect(world.read("docs/new.txt")).toBe("new and mine\n");
  expect(world.read("docs/other.txt")).toBe("mine\n");
});

test("undo beside a person's edit: other lines stay, the same lines are a conflict and then nothing changes", async () => {
  using world = new InPlace();
  const { agents } = world;
  const long = Array.from({ length: 9 }, (_, line) => `line ${line}`).join("\n");
  world.write("long.txt", `${long}\n`);
  world.commit();
  const id = await world.unsafePlan(
    `  - { id: long, tool: edit_file, params: { path: long.txt, old: "line 1", new: "plan" } }\n${STEPS}`,
  );
  expect((await agents.json("plan", "execute", id)).exit_code).toBe(0);
  world.write("long.txt", world.read("long.txt").replace("line 8", "mine"));
  world.write("a.txt", "one\n2 and mine\n");
  world.write("docs/mine.txt", "mine\n");
  const before = world.git("status", "--porcelain");
  const conflict = await agents.json("plan", "undo", id, "--yes");
  expect(conflict).toMatchObject({ exit_code: 4, error: { code: "MERGE_CONFLICT" } });
  expect(conflict.error?.message).toContain("api/a.txt was changed on both sides");
  expect(world.git("status", "--porcelain")).toBe(before);
  expect(world.read("long.txt")).toContain("plan");

  world.write("a.txt", "one\n2\n");
  expect((await agents.json("plan", "undo", id, "--yes")).exit_code).toBe(0);
  expect(world.read("long.txt")).toBe(`${long}\n`.replace("line 8", "mine"));
  expect(world.read("a.txt")).toBe("one\ntwo\n");
  expect(readdirSync(join(world.repository, "docs"))).toEqual(["mine.txt"]);
});

test("while a plan works in place no other one does, and no other one lands there", { timeout: 120_000 }, async () => {
  using world = new InPlace();
  const { agents } = world;
  const many = Array.from(
    { length: 30 },
    (_, index) => `  - { id: s${index}, tool: write_file, params: { path: n/${index}, content: x } }\n`,
  );
  const first = await world.unsafePlan(many.join(""));
  const second = await world.another(...UNSAFE);
  // A plan with a sandbox of the same repository, ready to land.
  await agents.json("resource", "add", "git-checkout", "safe", "--path", world.repository);
  await agents.json("project", "create", "careful", "--resource", "safe");
  const { data } = await agents.json("plan", "use", "greet", "careful", "--arg", "who=world");
  const third = String(data["plan_id"]);
  expect((await agents.json("plan", "execute", third)).exit_code).toBe(0);

  const running = agents.start(["plan", "execute", first]);
  await new Promise<void>((resolve) =>
    running.child.stderr.on("data", (text: string) => text.includes("done") && resolve()),
  );
  running.child.kill("SIGSTOP");
  const busy = await agents.json("plan", "execute", second);
  expect(busy).toMatchObject({ exit_code: 4, error: { code: "RESOURCE_BUSY" } });
  expect((await agents.json("plan", "status", second)).data).toMatchObject({ phase: "strategize", state: "queued" });
  let landed = false;
  const landing = agents.json("plan", "apply", third, "--yes").then((ended) => {
    landed = true;
    return ended;
  });
  await sleep(1_000);
  expect(landed).toBe(false);
  running.child.kill("SIGCONT");
  expect((await running.finished).code).toBe(0);
  // It made the same files, which are there by now: only the commit is left to make.
  expect((await landing).exit_code).toBe(0);
  expect(readdirSync(join(world.repository, "n"))).toHaveLength(30);
  expect((await agents.json("plan", "execute", second)).exit_code).toBe(0);
});

const FULL = sized({ normal: false, full: true });
const KILLS = FULL ? 200 : 12;
const SEED = Number(process.env["CLEVERAGENTS_TEST_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));

const KILLED_STEPS = `${STEPS}  - { id: rename, tool: move_file, params: { path: a.txt, to: moved/a.txt } }
  - { id: again, tool: edit_file, params: { path: moved/a.txt, old: one, new: "1" } }
  - { id: rewrite, tool: rewrite_code, params: { language: typescript, pattern: "log($A)", rewrite: "say($A)" } }
  - { id: drop, tool: delete_directory, params: { path: many } }
  - { id: rules, tool: edit_file, params: { path: .gitignore, old: "*.log", new: "*.tmp" } }
`;

test(
  `killed ${KILLS} times at a random moment, each time taken up again (seed ${SEED})`,
  { timeout: 3_600_000 },
  async () => {
    const random = seededRandom(SEED);
    using world = new InPlace();
    const { agents } = world;
    for (const directory of ["code", "many"]) mkdirSync(join(world.repository, directory));
    for (let file = 0; file < 40; file += 1) {
      world.write(`code/${file}.ts`, `log(${file});\n`);
      world.write(`many/${file}`, `${file}\n`);
    }
    world.commit();
    world.write("mine.txt", "mine\n");
    world.write("mine.log", "mine\n");
    const beginning = await readTree(world.repository);
    let id = await world.unsafePlan(KILLED_STEPS);
    const started = performance.now();
    expect((await agents.json("plan", "execute", id)).exit_code).toBe(0);
    const durationMs = performance.now() - started;
    const expected = await outcome(world, id);
    expect(expected.artifacts).toHaveLength(44 + 40);

    for (let kills = 0; kills < KILLS;) {
      expect((await agents.json("plan", "undo", id, "--yes")).exit_code).toBe(0);
      expect(await readTree(world.repository)).toEqual(beginning);
      id = await world.another(...UNSAFE);
      for (let round = 0; round < 6 && kills < KILLS; round += 1) {
        if (!(await killed(world, id, random() * durationMs))) break;
        kills += 1;
      }
      expect((await agents.json("plan", "execute", id)).data).toMatchObject({ state: "complete" });
      expect(await outcome(world, id)).toEqual(expected);
      expect(world.leftovers()).toEqual([]);
    }
    expect((await agents.json("audit", "verify")).exit_code).toBe(0);
  },
);

async function outcome(world: InPlace, id: string): Promise<{ tree: Tree; artifacts: unknown[][]; patch: unknown }> {
  const { data } = await world.agents.json("plan", "artifacts", id);
  const { patch } = (await world.agents.json("plan", "diff", id)).data;
  const artifacts = (data["artifacts"] as Record<string, unknown>[]).map(({ path, change, steps }) => [
    path,
    change,
    steps,
  ]);
  return { tree: await readTree(world.repository), artifacts, patch };
}

/** Executes the plan and kills that after so many milliseconds; false when it had ended before. */
async function killed(world: InPlace, id: string, afterMs: number): Promise<boolean> {
  const args = [join(ROOT, "bin/agents"), "--data-dir", world.agents.dataDir, "plan", "execute", id];
  const child = spawn(process.execPath, args, { stdio: "ignore" });
  const exited = once(child, "exit");
  await Promise.race([sleep(afterMs), exited]);
  child.kill("SIGKILL");
  await exited;
  world.lapse();
  return child.signalCode === "SIGKILL";
}
