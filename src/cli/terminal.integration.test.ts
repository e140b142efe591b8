/** Control characters from a hostile model, file or command are visible on the screen and do nothing there. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { makeRepository } from "../testing/git-repository.ts";
import { Agents, type RunOptions } from "./testing/agents.ts";
import { CodeWorld } from "./testing/code-world.ts";
import { forbiddenIn, withoutOwnCodes } from "./testing/hidden-characters.ts";
import { noTerminal, Person } from "./testing/pseudo-terminal.ts";
import { SpeakingServer } from "./testing/speaking-server.ts";
import { World } from "./testing/world.ts";

const CONTROLS = [
  "\u001b]52;c;aGk=\u0007", // the clipboard
  "\u001b]0;title\u0007",
  "\u001b[1A\u001b[2K", // one line up, and away with it
  "\u001bc", // all away
  "\u001bPq\u001b\\",
  "\u001b]8;;http://example.org\u001b\\link\u001b]8;;\u001b\\",
  "\b\b\b",
  "\rover",
  "\u007f",
  "\u009b2J",
].join("");
const INVISIBLE =
  "\u202eder\u202c\u2066i\u2069\u200b\u200f\u061c\u2060\ufeff\u00ad\u034f\u3164\u{e0041}\u2028\u2029a\ufe0f";
const HOSTILE = `begin ${CONTROLS}${INVISIBLE} end`;
/** How the same is seen; the parts of it, because lines are wrapped. */
const SEEN = ["<U+001B>]52;c;aGk=<U+0007>", "<U+009B>2J", "<U+202E>der<U+202C>", "<U+E0041>"];

const TERMINAL = { columns: 100, rows: 30 };
const reason = noTerminal();
if (reason !== undefined) console.log(`skipped: ${reason}`);

/** To a pipe and, where there can be one, to a terminal: nothing hidden gets through, and `parts` can be read. */
async function expectVisible(
  agents: Agents,
  words: readonly string[],
  parts: readonly string[],
  options: RunOptions = {},
) {
  const piped = await agents.run(words, options);
  const outputs = [piped.stdout + piped.stderr];
  if (reason === undefined) outputs.push((await agents.process(words, { ...options, terminal: TERMINAL })).stdout);
  for (const output of outputs) {
    expect(forbiddenIn(output), output).toEqual([]);
    for (const part of parts) expect(output.replaceAll(/[\r\n│]| {2,}/g, "")).toContain(part);
  }
  for (const format of ["json", "yaml"]) {
    const { stdout, stderr } = await agents.run([...words, "--format", format], options);
    expect(forbiddenIn(stdout + stderr), format).toEqual([]);
    const read: unknown = format === "json" ? JSON.parse(stdout) : parse(stdout);
    expect(read).toMatchObject({ command: expect.any(String) });
  }
}

const STEP = {
  id: "note",
  description: HOSTILE,
  risk: 0.2,
  confidence: 0.9,
  rationale: "asked\nother: Do nothing",
  alternatives: [HOSTILE],
};

/** A repository, and a hostile model. */
class HostileWorld extends Agents implements AsyncDisposable {
  readonly repository: string = makeRepository(join(this.directory, "shop"));
  readonly #server = new SpeakingServer(({ user, results }) => {
    if (user.includes("Decide how")) return { call: { tool: "record_strategy", parameters: { steps: [STEP] } } };
    if (results.includes("write_file")) return { text: HOSTILE };
    return { call: { tool: "write_file", parameters: { path: "note.txt", content: `${HOSTILE}\n` } } };
  });

  async listen(): Promise<this> {
    await this.json("config", "set", "provider.house.base-url", await this.#server.listen());
    return this;
  }

  person(words: readonly string[]): Person {
    return new Person(this.start(words, { cwd: this.repository, terminal: TERMINAL }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
    this[Symbol.dispose]();
  }
}

const RUN = ["run", "write a note", "--actor", "house/m", "--automation-profile"];

/** Of a file. */
const NAME = ["<U+0008><U+0008><U+0008><U+202E><U+001B>[2J.ts"];

describe("to a pipe, to a terminal, and as JSON and YAML", () => {
  test("the answer of a model", async () => {
    using agents = new Agents();
    await using server = new SpeakingServer(() => ({ text: HOSTILE }));
    await agents.json("config", "set", "provider.house.base-url", await server.listen());
    await expectVisible(agents, ["actor", "run", "house/m", "say"], SEEN);
    const envelope = await agents.json("actor", "run", "house/m", "say");
    expect(envelope.data["response"]).toBe(HOSTILE);
  });

  test("a plan's diff", async () => {
    using world = new World();
    const { agents } = world;
    world.resource = ["git-checkout", "api", "--path", world.repository];
    writeFileSync(join(world.repository, "evil.txt"), `${HOSTILE}\n`);
    world.commit();
    const steps = "  - { id: drop, tool: delete_file, params: { path: evil.txt } }\n";
    const id = await world.plan(steps);
    await agents.json("plan", "execute", id);
    await expectVisible(agents, ["plan", "diff", id], SEEN);
    expect((await agents.json("plan", "diff", id)).data["patch"]).toContain(HOSTILE);
    const { stderr } = await agents.run(["plan", "diff", id]);
    expect(stderr).toContain("--output FILE writes the patch as it is");
    // Git can apply the patch that is written to a file.
    const written = await agents.json("plan", "diff", id, "--output", "it.patch");
    expect(written.exit_code).toBe(0);
    execFileSync("git", ["apply", "--check", join(agents.directory, "it.patch")], { cwd: world.repository });
    expect(readFileSync(join(agents.directory, "it.patch"), "utf8")).toContain(HOSTILE);
    expect((await agents.json("plan", "diff", id, "--output", "no/it.patch")).exit_code).toBe(2);
  });

  test("a decision of a model, with its reasons", async () => {
    expect.hasAssertions();
    await using agents = await new HostileWorld().listen();
    const words = [...RUN, "trusted", "--format", "json"];
    const { stdout } = await agents.run(words, { cwd: agents.repository });
    const id = String(JSON.parse(stdout).data.plan_id);
    const { data } = await agents.json("plan", "tree", id);
    const [decision = ""] =
      JSON.stringify(data)
        .match(/(?<="id":")[0-9A-Z]{26}/g)
        ?.slice(1) ?? [];
    await expectVisible(agents, ["plan", "tree", id], []);
    await expectVisible(agents, ["plan", "explain", decision, "--show-reasoning", "--show-alternatives"], []);
    const shown = ["plan", "explain", decision, "--show-context"];
    await expectVisible(agents, shown, []);
    // A person at a terminal reads it as a text.
    const { stdout: read } = await agents.process(shown, { terminal: TERMINAL, env: { PAGER: "cat" } });
    if (reason === undefined)
      expect(read).toMatch(/^=== System\r\n\r\nYou are [^]*=== user\r\n[^]*=== Tools\r\n\r\n- /m);
    await expectVisible(agents, ["plan", "status", id], []);
    await expectVisible(agents, ["audit", "list"], []);
  });

  test("the last words of a command that failed", async () => {
    using world = new World();
    const command = String.raw`printf 'begin \033[2J\033]0;x\007\b\302\2332J\342\200\256der end\n'; exit 1`;
    const step = `  - { id: a, tool: shell_execute, params: { command: ${JSON.stringify(command)} } }\n`;
    const id = await world.plan(step, "--automation-profile", "full-auto");
    const { stdout, stderr } = await world.agents.run(["plan", "execute", id]);
    expect(forbiddenIn(stdout + stderr)).toEqual([]);
    expect(stderr).toContain("<U+202E>der end");
    await expectVisible(world.agents, ["plan", "errors", id], []);
    await expectVisible(world.agents, ["plan", "status", id], []);
  });

  test("the text of context, and the names of files in it", async () => {
    expect.hasAssertions();
    using world = new CodeWorld();
    const { agents, repository } = world;
    world.write("src/evil\b\b\b\u202e\u001b[2J.ts", `export function evilSession() {}\n// ${HOSTILE}\n`);
    await world.project();
    await expectVisible(agents, ["context", "pack", "evilSession", "--path", repository], ["<U+202E>"]);
    await expectVisible(agents, ["project", "context", "simulate", "shop", "-q", "evilSession"], NAME);
    await expectVisible(agents, ["project", "context", "inspect", "shop", "-q", "evilSession"], NAME);
    await expectVisible(agents, ["context", "analyze", "--path", repository], ["<U+0008>"]);
  });

  test("what the user typed, given back in an error", async () => {
    expect.hasAssertions();
    using agents = new Agents();
    await expectVisible(agents, [HOSTILE], ["<U+001B>"]);
    await expectVisible(agents, ["plan", "status", HOSTILE], []);
    await expectVisible(agents, ["config", "set", "core.user", HOSTILE], []);
    await expectVisible(agents, ["project", "create", "x", "--resource", HOSTILE], []);
  });
});

test("the lines of a file that ends its lines by CR LF are marked where they change", async () => {
  using world = new World();
  writeFileSync(join(world.repository, "crlf.txt"), "one\r\ntwo\r\nthree\r\n");
  world.commit();
  const edit = { path: "crlf.txt", old: "two\r", new: "2\r3\r" };
  const id = await world.plan(`  - { id: e, tool: edit_file, params: ${JSON.stringify(edit)} }\n`);
  await world.agents.json("plan", "execute", id);
  const { stdout } = await world.agents.run(["plan", "diff", id]);
  expect(stdout).toContain("@@ -1,3 +1,3 @@\n one\n-two^M\n+2<U+000D>3^M\n three\n");
});

test("what Node itself prints: a warning, an error that nothing caught", async () => {
  using agents = new Agents();
  const trouble = (code: string): NodeJS.ProcessEnv => {
    const file = agents.write("trouble.mjs", code);
    return { NODE_OPTIONS: `--import=${file}` };
  };
  const text = JSON.stringify(HOSTILE);
  const late = (code: string): string => `setTimeout(() => { ${code} }, 1); setTimeout(() => {}, 3000);`;
  const warned = await agents.process(["plan", "list"], {
    env: trouble(late(`process.emitWarning(${text}); console.log(${text})`)),
  });
  expect(forbiddenIn(warned.stdout + warned.stderr)).toEqual([]);
  expect(warned.stderr).toContain("Warning: begin <U+001B>]52");
  expect(warned.stdout).toContain("begin <U+001B>]52");
  const thrown = await agents.process(["plan", "list"], { env: trouble(late(`throw new Error(${text})`)) });
  expect(thrown.code).toBe(1);
  expect(forbiddenIn(thrown.stdout + thrown.stderr)).toEqual([]);
  expect(thrown.stderr).toContain("error: Something unexpected went wrong: begin <U+001B>]52");
});

test.each([
  ["project", ["project", "create", "p\u202ex"]],
  ["description", ["project", "create", "p", "--description", "a\u200bb"]],
  ["user", ["config", "set", "core.user", "an\u2066n"]],
])("a %s with an invisible character is refused", async (_, words) => {
  using agents = new Agents();
  const { exit_code: code, error } = await agents.json(...words);
  expect(code).toBe(2);
  expect(error?.message).toMatch(/<U\+|\\u20/);
});

describe.skipIf(reason !== undefined)("on a terminal", () => {
  test("the strategy and the difference before a question cannot draw over it", async () => {
    await using world = await new HostileWorld().listen();
    const person = world.person([...RUN, "supervised"]);
    await person.sees("Run this plan? [y/N, or what should be different] ");
    person.type("y\r");
    await person.sees("Apply 1 file (+1 −0)? [y/N] ");
    person.type("n\r");
    expect(await person.end()).toBe(0);
    expect(forbiddenIn(person.seen)).toEqual([]);
    for (const part of SEEN) expect(person.seen.replaceAll(/[\r\n│]| {2,}/g, "")).toContain(part);
    // A line that looks like a step is a step.
    expect(person.seen).toContain("because: asked other: Do nothing");
    expect(person.seen).toContain("Nothing was applied.");
  });

  test("a question of a model and its ways", async () => {
    await using world = await new HostileWorld().listen();
    const person = world.person([...RUN, "manual"]);
    await person.sees("a number, or what to do instead > ");
    person.type("\u0003");
    expect(await person.end()).not.toBe(0);
    expect(forbiddenIn(person.seen)).toEqual([]);
    expect(person.seen).toContain("<U+202E>der<U+202C>");
  });

  test.each(["y\r", "y\ry\ry\r", "y"])("%j typed while the plan works answers nothing", async (typed) => {
    await using world = await new HostileWorld().listen();
    const person = world.person([...RUN, "supervised"]);
    await person.sees("plan ");
    person.type(typed);
    await person.sees("Run this plan? [y/N, or what should be different] ");
    person.type(`y\r${typed}`);
    await person.sees("Apply 1 file (+1 −0)? [y/N] ");
    person.type("\r");
    expect(await person.end()).toBe(0);
    expect(person.seen).toContain("Nothing was applied.");
  });

  test.each([
    ["Ctrl-C", "\u0003"],
    ["Ctrl-D", "\u0004"],
    ["Ctrl-C after a y", "y\u0003"],
  ])("%s at a question means no", async (_, keys) => {
    await using world = await new HostileWorld().listen();
    const person = world.person([...RUN, "supervised"]);
    await person.sees("Run this plan? [y/N, or what should be different] ");
    person.type(keys);
    expect(await person.end()).toBe(0);
    expect(person.seen).toMatch(/should be different\] [^\n]*\n.*Nothing was executed\.\r\n/);
    await world.json("project", "create", "doomed");
    const other = world.person(["project", "delete", "doomed"]);
    await other.sees("Delete the project local/doomed");
    other.type(keys);
    expect(await other.end()).toBe(0);
    expect(other.seen).toContain("Nothing was deleted.");
  });

  test("the exact patch is not written to a terminal", async () => {
    using world = new World();
    const id = await world.plan(`  - { id: w, tool: write_file, params: { path: x.txt, content: "x\\n" } }\n`);
    await world.agents.json("plan", "execute", id);
    const words = ["plan", "diff", id, "--output", "/dev/tty"];
    const { code, stdout } = await world.agents.process(words, { terminal: TERMINAL });
    expect(code).toBe(2);
    expect(stdout).toContain("/dev/tty is a terminal.");
  });

  test("tables with made visible names are straight or paragraphs, and without colors where none are wanted", async () => {
    using world = new World();
    const write = { path: "docs/a\u202eb.txt", content: "x\n" };
    const id = await world.plan(`  - { id: w, tool: write_file, params: ${JSON.stringify(write)} }\n`);
    await world.agents.json("plan", "execute", id);
    const words = ["plan", "artifacts", id];
    for (const columns of [0, 24, 40, 80, 200]) {
      const { stdout } = await world.agents.process(words, { terminal: { columns, rows: 30 } });
      expect(forbiddenIn(stdout)).toEqual([]);
      expect(stdout).toMatch(/ docs\/a<U\+202E>b\.txt\s/);
      const lines = withoutOwnCodes(stdout).split("\n");
      const frame = lines.filter((line) => /^[┌├└│]/.test(line));
      const isNarrow = columns === 24 || columns === 40;
      expect(frame).toHaveLength(isNarrow ? 0 : 5);
      expect(new Set(frame.map((line) => line.length)).size).toBe(isNarrow ? 0 : 1);
    }
    for (const env of [{ NO_COLOR: "1" }, { TERM: "dumb" }]) {
      const { stdout } = await world.agents.process(["plan", "diff", id], { terminal: TERMINAL, env });
      expect(stdout).not.toContain("\u001b");
      expect(stdout).toContain("+x\r\n");
    }
  });
});
