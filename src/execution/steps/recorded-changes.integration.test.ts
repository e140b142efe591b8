/**
 * The oracle: after every execution base and recorded changes are the sandbox, byte for byte, each change credited
 * once.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../testing/random.ts";
import type { PlanChange } from "../../changes/plan-changes.ts";
import { ExecutingPlan, step } from "../testing/executing-plan.ts";
import { UserRepository } from "../testing/user-repository.ts";
import { WAVES } from "../testing/interrupted-waves.ts";
import { sized } from "../../testing/size.ts";

const FILES = sized({ normal: 1_000, full: 20_000 });
const MEGABYTES = sized({ normal: 5, full: 50 });
const ROUNDS = sized({ normal: 10, full: 60 });
const SEED = Number(process.env["CLEVERAGENTS_TEST_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));

async function expectOracle(plan: ExecutingPlan): Promise<PlanChange[]> {
  const entries = await plan.recorded();
  expect(await plan.replayed(entries)).toEqual(await plan.tree());
  return entries;
}

const facts = ({ operation, path, fromPath, step }: PlanChange): string =>
  `${step}: ${operation} ${fromPath === undefined ? "" : `${fromPath} -> `}${path}`;

describe.each(["git_worktree", "filesystem_copy"] as const)("%s", (strategy) => {
  test("file tools, side by side and one after another", async () => {
    await using plan = await ExecutingPlan.start({ strategy });
    const before = await plan.user.fingerprint();
    await plan.run([
      [
        step("create", "write_file", { path: "new/文 dir/ä b.txt", content: "no newline" }),
        step("modify", "write_file", { path: "a.txt", content: "" }),
        step("crlf", "edit_file", { path: "crlf.txt", old: "two", new: "2" }),
        step("delete", "delete_file", { path: "binary.bin" }),
        step("rename", "move_file", { path: "script.sh", to: "bin/script" }),
        step("copy", "copy_file", { path: "latin1.txt", to: "copy.txt" }),
        step("link", "copy_file", { path: "link", to: "second-link" }),
        step("mode", "write_file", { path: "no-newline.txt", content: "end", mode: "755" }),
        step("unlink", "delete_file", { path: "link-out" }),
        step("directory", "delete_directory", { path: "src/deep" }),
      ],
      [
        step("again", "write_file", { path: "a.txt", content: "two\n" }),
        step("back", "move_file", { path: "bin/script", to: "script.sh" }),
      ],
    ]);
    const entries = await expectOracle(plan);
    expect(entries.map(facts)).toEqual([
      "create: create new/文 dir/ä b.txt",
      "modify: modify a.txt",
      "crlf: modify crlf.txt",
      "delete: delete binary.bin",
      "rename: rename script.sh -> bin/script",
      "copy: create copy.txt",
      "link: create second-link",
      "mode: mode no-newline.txt",
      "unlink: delete link-out",
      "directory: delete src/deep/er/x.ts",
      "directory: delete src/deep/y.ts",
      "again: modify a.txt",
      "back: rename bin/script -> script.sh",
    ]);
    expect(await plan.user.fingerprint()).toEqual(before);
  });

  test("a shell command may do anything to files", async () => {
    await using plan = await ExecutingPlan.start({ strategy });
    const command = [
      "printf 'x' > 'new file'",
      "printf 'a\\r\\nb' >> crlf.txt",
      "chmod 755 a.txt",
      "chmod 644 script.sh",
      "mv binary.bin moved.bin",
      "rm link && ln -s src/z.ts link",
      "rm link-out && printf file > link-out",
      "rm empty.txt && mkdir empty.txt && printf in > empty.txt/inside",
      "rm -r src/deep && printf 'was a directory' > src/deep",
      "rm -r 'with space' && ln -s src 'with space'",
      "head -c 400000 /dev/urandom > big.bin",
      "mkdir -p 'ü/ö' && : > 'ü/ö/empty'",
    ].join(" && ");
    await plan.run([
      [step("earlier", "write_file", { path: "src/z.ts", content: "changed before\n" })],
      [step("shell", "shell_execute", { command })],
      [
        step("later", "shell_execute", {
          command: "printf more >> src/z.ts; rm 'new file'; rm -r empty.txt; printf f > empty.txt",
        }),
      ],
    ]);
    const entries = await expectOracle(plan);
    expect(entries.filter((entry) => entry.step === "shell").map(facts)).toEqual([
      "shell: mode a.txt",
      "shell: create big.bin",
      "shell: delete binary.bin",
      "shell: modify crlf.txt",
      "shell: delete empty.txt",
      "shell: create empty.txt/inside",
      "shell: modify link",
      "shell: modify link-out",
      "shell: create moved.bin",
      "shell: create new file",
      "shell: mode script.sh",
      "shell: create src/deep",
      "shell: delete src/deep/er/x.ts",
      "shell: delete src/deep/y.ts",
      "shell: create with space",
      "shell: delete with space/häß 文.txt",
      "shell: create ü/ö/empty",
    ]);
    // A later owner rebuilds exactly this, also where a file, a directory and a link changed places.
    const tree = await plan.tree();
    await plan.takeOver();
    await plan.run([]);
    expect(await plan.tree()).toEqual(tree);
  });

  test("a command that runs beside file tools is credited with its own changes only", async () => {
    await using plan = await ExecutingPlan.start({ strategy });
    const files = Array.from({ length: 12 }, (_, index) =>
      step(`file-${index}`, "write_file", { path: `files/${index}`, content: `${index}` }),
    );
    const shells = Array.from({ length: 3 }, (_, index) =>
      step(`shell-${index}`, "shell_execute", {
        command: `sleep 0.05; mkdir -p shells; echo ${index} > shells/${index}`,
      }),
    );
    await plan.run([[...files.slice(0, 6), ...shells, ...files.slice(6)]]);
    const entries = await expectOracle(plan);
    expect(entries.map(facts).sort()).toEqual(
      [
        ...files.map(({ id }, index) => `${id}: create files/${index}`),
        ...shells.map(({ id }, index) => `${id}: create shells/${index}`),
      ].sort(),
    );
  });
});

test("attributes that ask for other bytes in the checkout change nothing", async () => {
  await using plan = await ExecutingPlan.start();
  const { user } = plan;
  await user.git("config", "filter.upper.smudge", "tr a-z A-Z");
  await user.git("config", "filter.upper.clean", "tr A-Z a-z");
  const attributes = "*.txt text eol=crlf\n*.u filter=upper\n*.id ident\n*.enc text working-tree-encoding=UTF-16\n";
  await user.commit({ ".gitattributes": attributes, "f.u": "lower\n", "i.id": "$Id$\n", "w.txt": "one\ntwo\n" });
  await plan.run([[step("shell", "shell_execute", { command: "for f in f.u i.id w.txt; do echo more >> $f; done" })]]);
  const entries = await plan.recorded();
  expect(entries.map(facts)).toEqual(["shell: modify f.u", "shell: modify i.id", "shell: modify w.txt"]);
  const held = async (index: number): Promise<string> =>
    Buffer.from((await plan.changesets.content(entries[index]?.before?.hash ?? "")) ?? []).toString();
  expect([await held(0), await held(1), await held(2)]).toEqual(["lower\n", "$Id$\n", "one\ntwo\n"]);
});

test("what became ignored stays as it was recorded; what git ignored is not part of the plan", async () => {
  await using plan = await ExecutingPlan.start();
  await plan.run([
    [step("kept", "write_file", { path: "kept.tmp", content: "kept" })],
    [
      step("ignore", "shell_execute", {
        command: "echo '*.tmp' >> .gitignore; mkdir ignored; echo x > ignored/x; echo y > x.log",
      }),
    ],
  ]);
  const entries = await expectOracle(plan);
  expect(entries.map(facts)).toEqual(["kept: create kept.tmp", "ignore: modify .gitignore"]);
});

test(`a file of ${MEGABYTES} MB and a repository of ${FILES} files`, async () => {
  const paths = Array.from({ length: FILES }, (_, index) => `${index % 100}/${index}.txt`);
  const user = await UserRepository.make(Object.fromEntries(paths.map((path) => [path, `${path}\n`])));
  await using plan = await ExecutingPlan.start({ kind: "file", user });
  await plan.run([
    [step("large", "shell_execute", { command: `head -c ${MEGABYTES}000000 /dev/urandom > large.bin` })],
    [step("change", "shell_execute", { command: "echo more >> large.bin; for f in 7/*; do echo more >> $f; done" })],
    [step("move", "move_file", { path: "large.bin", to: "9/large.bin" })],
    [step("remove", "shell_execute", { command: "rm -r 8 1?" })],
  ]);
  const entries = await expectOracle(plan);
  const each = FILES / 100;
  const made = Object.entries(Object.groupBy(entries, ({ step: by }) => by));
  expect(made.map(([id, own]) => [id, own?.length])).toEqual([
    ["large", 1],
    ["change", 1 + each],
    ["move", 1],
    ["remove", 11 * each],
  ]);
  const tree = await plan.tree();
  await plan.takeOver();
  await plan.run([]);
  expect(await plan.tree()).toEqual(tree);
});

test(`killed ${ROUNDS} times at a random moment and resumed (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  await using plan = await ExecutingPlan.start({ kind: "file" });
  const program = fileURLToPath(new URL("../testing/interrupted-waves.ts", import.meta.url));
  const users = await plan.user.fingerprint();
  let killed = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    await plan.takeOver();
    await plan.lease.release();
    const args = [program, plan.store.url, plan.id, plan.directory, plan.user.path];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    const exited = once(child, "exit");
    await Promise.race([once(child.stdout, "data"), exited]);
    await sleep(random() * 150);
    child.kill("SIGKILL");
    await exited;
    if (child.signalCode === "SIGKILL") killed += 1;
  }
  await plan.takeOver();
  await plan.run(WAVES);
  const entries = await expectOracle(plan);
  // The whole program, each change once and with the step that made it, however often a step was begun.
  expect(entries.map(facts)).toEqual(
    WAVES.flat().flatMap(({ id, tool, params }) =>
      tool === "shell_execute"
        ? [`${id}: modify a.txt`, `${id}: create ${id}/1`, `${id}: create ${id}/2`]
        : [`${id}: create ${JSON.stringify(params["path"]).slice(1, -1)}`],
    ),
  );
  expect(killed).toBeGreaterThan(0);
  expect(await plan.user.fingerprint()).toEqual(users);
});
