/** Stored definitions changed in an editor, in this process: the editor is a function that changes the file. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runCli } from "./run-cli.ts";
import { ACTION_YAML, type Envelope } from "./testing/agents.ts";
import { capturedIo } from "./testing/captured-io.ts";
import { typedTerminal } from "./testing/typed-terminal.ts";

type Change = (text: string) => string | Promise<string>;

class EditWorld {
  readonly directory: string = mkdtempSync(join(tmpdir(), "cleveragents-edit-"));
  /** The texts that the editor showed. */
  readonly seen: string[] = [];
  commands: string[] = [];

  /** Each edit is one time that the editor is opened; false is an editor that fails. */
  async call(words: readonly string[], edits: readonly (Change | false)[] = [], typed = "y\n"): Promise<Envelope> {
    const { input, output } = typedTerminal(typed);
    const env = { CLEVERAGENTS_DATA_DIR: join(this.directory, "data"), CLEVERAGENTS_FORMAT: "json", EDITOR: "ed -x" };
    const io = capturedIo({ env, cwd: this.directory });
    const left = [...edits];
    const startEditor = async (command: string, file: string): Promise<boolean> => {
      this.commands.push(command);
      const edit = left.shift();
      if (edit === undefined) throw new Error("the editor was opened once too often");
      const text = readFileSync(file, "utf8");
      this.seen.push(text);
      if (edit === false) return false;
      writeFileSync(file, await edit(text));
      return true;
    };
    await runCli(words, { ...io, stdin: input, stderr: output, startEditor });
    if (left.length > 0) throw new Error(`the editor was not opened ${left.length} times more`);
    return JSON.parse(io.written.stdout) as Envelope;
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.directory, name), text);
  }

  /** The YAML files that were kept. */
  get kept(): string[] {
    const edits = join(this.directory, "data", "edits");
    return existsSync(edits) ? readdirSync(edits).filter((name) => name.endsWith(".yaml")) : [];
  }
}

function world(): EditWorld {
  const made = new EditWorld();
  onTestFinished(() => rmSync(made.directory, { recursive: true, force: true }));
  return made;
}

const ACTOR = "name: greeter\ntype: tool\ndescription: Greets\nsteps: [{ tool: git_status }]\n";
const PROFILE = "name: careful\ndescription: Asks\nextends: trusted\nauto_apply: 1\n";
const same: Change = (text) => text;

async function withActor(): Promise<EditWorld> {
  const made = world();
  made.write("actor.yaml", ACTOR);
  await made.call(["actor", "add", "--config", "actor.yaml"]);
  return made;
}

test("an actor is opened with the line of its schema, and replaced once the editor is left", async () => {
  const made = await withActor();
  const edited = await made.call(
    ["edit", "actor", "greeter"],
    [(text) => text.replace("description: Greets", "description: Greets everyone")],
  );
  expect(edited).toMatchObject({
    exit_code: 0,
    data: { kind: "actor", name: "local/greeter", replaced: true, file: null },
    messages: [{ text: "local/greeter was replaced." }],
  });
  expect(made.commands).toEqual(["ed -x"]);
  expect(made.seen[0]).toMatch(/^# yaml-language-server: \$schema=\.\/actor\.schema\.json\nname: local\/greeter\n/);
  const schema = JSON.parse(readFileSync(join(made.directory, "data/edits/actor.schema.json"), "utf8")) as unknown;
  expect(schema).toMatchObject({ title: "Actor" });
  expect((await made.call(["actor", "show", "greeter"])).data).toMatchObject({
    actor_details: { description: "Greets everyone", version: 2 },
  });
  expect(made.kept).toEqual([]);
});

test("a text that is left as it is changes nothing, and leaves no file", async () => {
  const made = await withActor();
  expect(await made.call(["edit", "actors", "local/greeter"], [same])).toMatchObject({
    data: { replaced: false, file: null },
    messages: [{ text: "local/greeter was not changed." }],
  });
  expect(made.kept).toEqual([]);
});

test("errors stand above their lines until the text is right", async () => {
  const made = await withActor();
  const edited = await made.call(
    ["edit", "actor", "greeter"],
    [
      (text) => text.replace("description:", "discription:").replace("git_status", "git_statu"),
      (text) => text.replace(/^discription:/m, "description:"),
      (text) => text.replace("git_statu\n", "git_status\n").replace("Greets", "Hello"),
    ],
  );
  expect(edited.data).toMatchObject({ replaced: true });
  const [, second = "", third = ""] = made.seen;
  expect(second).toContain('# error: discription: unknown key (did you mean "description"?)\ndiscription: Greets\n');
  expect(second).toContain("# error: description: is required\n");
  expect(second).toMatch(/# error: steps\.0\.tool: there is no tool "git_statu".*\n\s+tool: git_statu\n/);
  expect(third.match(/# error: /g)).toHaveLength(1);
  expect((await made.call(["actor", "show", "greeter"])).data).toMatchObject({
    actor_details: { description: "Hello" },
  });
});

test("a text with errors that is left as it is stays in a file that is named", async () => {
  const made = await withActor();
  const edited = await made.call(["edit", "actor", "greeter"], [(text) => `${text}more: 1\n`, same]);
  expect(edited).toMatchObject({ status: "warn", exit_code: 0, data: { replaced: false } });
  const file = String(edited.data["file"]);
  expect(readFileSync(file, "utf8")).toContain("more: 1");
  expect(edited.messages[0]?.text).toContain(file);
  expect((await made.call(["actor", "show", "greeter"])).data).toMatchObject({ actor_details: { version: 1 } });
});

test("YAML that cannot be read is marked where it breaks", async () => {
  const made = await withActor();
  const broken: Change = (text) => `${text}  bad: [1\n`;
  await made.call(["edit", "actor", "greeter"], [broken, same]);
  expect(made.seen[1]).toMatch(/# error: .+\n/);
});

test("of two who edit the same definition one wins, and the text of the other is kept", async () => {
  const made = await withActor();
  const slow: Change = async (text) => {
    await made.call(["edit", "actor", "greeter"], [(other) => other.replace("Greets", "Fast")]);
    return text.replace("Greets", "Slow");
  };
  const lost = await made.call(["edit", "actor", "greeter"], [slow]);
  expect(lost).toMatchObject({ exit_code: 4, error: { message: 'The actor "local/greeter" was changed meanwhile.' } });
  const file = String(lost.error?.detail["file"]);
  expect(lost.error?.kept).toContain(file);
  expect(readFileSync(file, "utf8")).toContain("Slow");
  expect((await made.call(["actor", "show", "greeter"])).data).toMatchObject({
    actor_details: { description: "Fast", version: 2 },
  });
  const gone: Change = async (text) => {
    await made.call(["actor", "remove", "greeter", "--yes"]);
    return text.replace("Fast", "Late");
  };
  expect(await made.call(["edit", "actor", "greeter"], [gone])).toMatchObject({
    exit_code: 4,
    error: { message: 'The actor "local/greeter" was removed meanwhile.' },
  });
});

test("another name is refused in place; the same name in another form is not", async () => {
  const made = await withActor();
  const edited = await made.call(
    ["edit", "actor", "greeter"],
    [
      (text) => text.replace("name: local/greeter", "name: other"),
      (text) => text.replace("name: other", "name: 'Greeter' # mine").replace("Greets", "Hi"),
    ],
  );
  expect(made.seen[1]).toContain("# error: name: must stay local/greeter; a new file adds another one\nname: other");
  expect(edited.data).toMatchObject({ replaced: true });
  await made.call(["edit", "actor", "greeter"], [(text) => text.replace(/^name: .*/m, "name: a b"), same]);
  expect(made.seen.at(-1)).toContain("# error: name: ");
});

test("an editor that fails changes nothing, and keeps a text that it wrote", async () => {
  const made = await withActor();
  expect(await made.call(["edit", "actor", "greeter"], [false])).toMatchObject({
    exit_code: 2,
    error: { kept: "Nothing was changed.", suggestions: ["set VISUAL or EDITOR to your editor"] },
  });
  expect(made.kept).toEqual([]);
  const failed = await made.call(["edit", "actor", "greeter"], [(text) => `${text}more: 1\n`, false]);
  expect(failed.error?.kept).toContain("your text is in");
  expect(made.kept).toHaveLength(1);
});

test("names are listed without a name, and a misspelled one is suggested", async () => {
  const made = await withActor();
  expect((await made.call(["edit", "actor"])).data).toEqual({ kind: "actor", names: ["local/greeter"] });
  expect((await made.call(["edit", "skill"])).data).toEqual({ kind: "skill", names: [] });
  expect(await made.call(["edit", "actor", "greetr"])).toMatchObject({
    exit_code: 3,
    error: { detail: { suggestion: "local/greeter" } },
  });
  expect((await made.call(["edit", "acter"])).error?.detail).toMatchObject({ suggestion: "actor" });
  expect((await made.call(["edit", "mcp", "x"])).exit_code).toBe(2);
});

test("without a terminal, the command for programs is named", async () => {
  const made = await withActor();
  const io = capturedIo({
    env: { CLEVERAGENTS_DATA_DIR: join(made.directory, "data"), CLEVERAGENTS_FORMAT: "json" },
    cwd: made.directory,
  });
  expect(await runCli(["edit", "actor", "greeter"], io)).toBe(2);
  const { error } = JSON.parse(io.written.stdout) as Envelope;
  expect(error?.suggestions).toEqual(["agents actor add --replace --config <file>", "agents schema actor"]);
});

interface Kind {
  readonly words: readonly string[];
  readonly text: string;
  readonly kind: string;
  readonly name: string;
  readonly change: readonly [string, string];
}

const KINDS: readonly Kind[] = [
  {
    words: ["action", "create"],
    text: ACTION_YAML,
    kind: "action",
    name: "fix-bug",
    change: ["issue {issue}", "bug {issue}"],
  },
  {
    words: ["automation-profile", "add"],
    text: PROFILE,
    kind: "profile",
    name: "local/careful",
    change: ["Asks", "Asks more"],
  },
  {
    words: ["validation", "add"],
    text: "name: tests\ndescription: Passes\ncommand: npm test\n",
    kind: "validation",
    name: "tests",
    change: ["Passes", "All pass"],
  },
  {
    words: ["validation", "add"],
    text: "name: notes\ndescription: Notes\ntool: read_file\nparams: { path: NOTES.md }\n",
    kind: "validation",
    name: "notes",
    change: ["description: Notes", "description: More"],
  },
  {
    words: ["tool", "add"],
    text: "name: count\ndescription: Counts\ncommand: [wc, -w]\n",
    kind: "tool",
    name: "count",
    change: ["Counts", "Counts words"],
  },
  {
    words: ["skill", "add"],
    text: "name: files\ndescription: Files\nbuiltins: [git_operations]\n",
    kind: "skill",
    name: "local/files",
    change: ["Files", "Git"],
  },
];

test.each(KINDS)("$kind $name is edited, replaced by its file, and taken without --replace", async (one) => {
  const { words, text, kind, name, change } = one;
  const made = world();
  made.write("file.yaml", text);
  const added = await made.call([...words, "--config", "file.yaml"]);
  expect(added.exit_code).toBe(0);
  const edited = await made.call(["edit", kind, name], [(shown) => shown.replace(...change)]);
  expect(edited).toMatchObject({ exit_code: 0, data: { replaced: true } });
  await made.call(["edit", kind, name], [same]);
  expect(made.seen.at(-1)).toContain(change[1]);
  expect(await made.call([...words, "--config", "file.yaml"])).toMatchObject({
    exit_code: 4,
    error: { code: "ALREADY_EXISTS" },
  });
  expect(await made.call([...words, "--config", "file.yaml", "--replace"])).toMatchObject({ exit_code: 0 });
  await made.call(["edit", kind, name], [same]);
  expect(made.seen.at(-1)).not.toContain(change[1]);
  const slow: Change = async (shown) => {
    await made.call(["edit", kind, name], [(other) => other.replace(/^description: .*/m, "description: Other")]);
    return shown.replace(...change);
  };
  expect(await made.call(["edit", kind, name], [slow])).toMatchObject({ exit_code: 4 });
  const { data } = await made.call(["audit", "verify"]);
  expect(data).toMatchObject({ verified: true });
});

test("what an edited file wants is asked for; after a no nothing changes", async () => {
  const made = await withActor();
  const wants: Change = (text) => text.replace("tool: git_status", "tool: shell_execute\n    params: { command: ls }");
  const refused = await made.call(
    ["edit", "actor", "greeter"],
    [(text) => wants(text.replace(/\n +params: \{\}/, ""))],
    "n\n",
  );
  expect(refused).toMatchObject({ status: "warn", data: { replaced: false } });
  expect(readFileSync(String(refused.data["file"]), "utf8")).toContain("shell_execute");
});

test("a built-in profile and a skill that is a folder are not edited", async () => {
  const made = world();
  expect(await made.call(["edit", "automation-profile", "manual"])).toMatchObject({
    exit_code: 2,
    error: { message: 'The automation profile "manual" is built in and cannot be changed.' },
  });
  const folder = join(made.directory, "notes");
  mkdirSync(folder);
  made.write("notes/SKILL.md", "---\nname: notes\ndescription: Notes\n---\nWrite.\n");
  for (const words of [[], ["--replace"]]) await made.call(["skill", "add", "notes", ...words]);
  const skill = await made.call(["edit", "skill", "notes"]);
  expect(skill.error?.suggestions).toEqual([`change the file SKILL.md in ${folder}`]);
});

test("the configuration is edited as a whole: unknown keys and wrong values are shown in place", async () => {
  const made = world();
  const config = ["--config-path", "config.yaml"];
  await made.call([...config, "config", "set", "core.user", "alice"]);
  const edited = await made.call(
    [...config, "edit", "config"],
    [
      (text) => `${text}core.fromat: plain\nbudget.per-run: much\nprovider.openai.api-key: sk-1\n`,
      (text) => text.replace(/^provider.*\n/m, ""),
      (text) =>
        text
          .replace(/^core.fromat/m, "core.progress")
          .replace(/: much$/m, ": 2.5")
          .replace("alice", "bob"),
    ],
  );
  expect(edited.error).toBeUndefined();
  expect(edited).toMatchObject({ data: { replaced: true } });
  expect(made.seen[1]).toContain("# error: provider.openai.api-key: is not kept here");
  expect(made.seen[2]).toContain('# error: core.fromat: unknown key (did you mean "core.format"?)\ncore.fromat: plain');
  expect(made.seen[2]).toContain("# error: budget.per-run: must be an amount of dollars");
  const text = readFileSync(join(made.directory, "config.yaml"), "utf8");
  expect(text).toContain("core.user: bob\n");
  expect(text).not.toContain("yaml-language-server");
  const { entries } = (await made.call(["audit", "list"])).data as { entries: { type: string }[] };
  expect(entries.filter(({ type }) => type === "config.changed").length).toBe(4);
  const projects = "projects:\n  local/shop:\n    core.automation-profile: manual\n";
  await made.call([...config, "edit", "config"], [(shown) => shown + projects]);
  const slow: Change = async (shown) => {
    await made.call([...config, "config", "set", "core.user", "carol"]);
    return `${shown}core.format: plain\n`;
  };
  expect(await made.call([...config, "edit", "config"], [slow])).toMatchObject({ exit_code: 4 });
  expect(readFileSync(join(made.directory, "config.yaml"), "utf8")).toContain("carol");
  await made.call([...config, "edit", "config"], [() => "# nothing\n"]);
  expect(readFileSync(join(made.directory, "config.yaml"), "utf8")).toBe("# nothing\n");
  await made.call([...config, "edit", "config"], [(shown) => `${shown}core.user: dave\n`]);
});
