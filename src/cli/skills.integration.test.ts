/** Skills through the command line: found, listed, read by a model when it asks, and never more than their folder. */
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Envelope } from "./testing/agents.ts";
import { stepTurn, strategyTurn, ThinkingWorld, turn } from "./testing/thinking-world.ts";

const STEPS = [{ id: "work", description: "Work with the skill", confidence: 0.9, risk: 0.1, resources: ["api"] }];
const EXAMPLE = fileURLToPath(new URL("../../examples/skills/release-notes", import.meta.url));

function skillText(name: string, description: string, body: string): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`;
}

function put(root: string, path: string, text: string | Uint8Array): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** A model that makes these calls one after the other, and then says that it is done. */
function scripted(world: ThinkingWorld, ...calls: { tool: string; parameters: object }[]): void {
  world.script(
    strategyTurn(STEPS),
    ...calls.map((call, index) =>
      stepTurn("work", { ...(index === 0 ? {} : { match: { tool: calls[index - 1]?.tool } }), tool_calls: [call] }),
    ),
    stepTurn("work", { match: { tool: calls.at(-1)?.tool }, text: "Done." }),
    turn({ text: "Nothing needs to change.", times: 5 }),
  );
}

async function jsonIn(world: ThinkingWorld, ...words: string[]): Promise<Envelope> {
  const { stdout } = await world.agents.run([...words, "--format", "json"], { cwd: world.repository });
  return JSON.parse(stdout) as Envelope;
}

async function told(world: ThinkingWorld, id: string, answer: string): Promise<string> {
  return (await world.agents.run(["plan", "explain", id, answer, "--output"])).stdout;
}

async function shownContext(world: ThinkingWorld, id: string): Promise<string> {
  return (await world.agents.run(["plan", "explain", id, "work.1", "--show-context"])).stdout;
}

test("a model sees the list, asks for a skill, gets its text and its files, and a script runs confined", async () => {
  using world = new ThinkingWorld();
  const { agents } = world;
  cpSync(EXAMPLE, join(agents.directory, "release-notes"), { recursive: true });
  put(world.repository, ".claude/skills/tidy/SKILL.md", skillText("tidy", "Tidies the code", "Sort the imports."));
  const folder = join(agents.directory, "release-notes");
  expect((await agents.json("skill", "add", folder)).error).toBeUndefined();
  scripted(
    world,
    { tool: "use_skill", parameters: { name: "release-notes" } },
    { tool: "use_skill", parameters: { name: "release-notes", file: "scripts/commits.sh" } },
    { tool: "use_skill", parameters: { name: "tidy" } },
    {
      tool: "shell_execute",
      parameters: { command: `${folder}/scripts/commits.sh; touch ${folder}/harm || echo kept` },
    },
  );
  const id = await world.thinking();
  expect((await agents.json("plan", "execute", id)).error).toBeUndefined();
  const context = await shownContext(world, id);
  expect(context).toContain("- release-notes: Write release notes from the commits since the last tag.");
  expect(context).toContain("- tidy: Tidies the code");
  expect(context).not.toContain("Group them into Added");
  const first = await told(world, id, "work.1");
  expect(first).toContain("Group them into Added, Changed and Fixed.");
  expect(first).toContain("Other files of this skill, for use_skill: scripts/commits.sh");
  expect(await told(world, id, "work.2")).toContain("git describe --tags");
  expect(await told(world, id, "work.3")).toContain("Sort the imports.");
  const ran = await told(world, id, "work.4");
  expect(ran).toMatch(/[0-9a-f]{7} /);
  expect(ran).toContain("kept");
}, 60_000);

test("an actor gets the skills that it names, none for an empty list, and hears of one that is not there", async () => {
  using world = new ThinkingWorld();
  const { agents } = world;
  for (const name of ["one", "two"])
    put(world.repository, `.agents/skills/${name}/SKILL.md`, skillText(name, `The skill ${name}`, `Body of ${name}.`));
  const actor = (name: string, skills: string): string =>
    `name: ${name}\ntype: llm\ndescription: d\nprovider: scripted\nmodel: demo.yaml\nskills: ${skills}\ntools: [read_file]\n`;
  for (const [name, skills] of [
    ["some", "[two]"],
    ["none", "[]"],
    ["wrong", "[twoo]"],
  ] as const) {
    agents.write("actor.yaml", actor(name, skills));
    expect((await agents.json("actor", "add", "--config", "actor.yaml")).error).toBeUndefined();
  }
  scripted(world, { tool: "use_skill", parameters: { name: "two" } });
  const id = await world.thinking(undefined, "--execution-actor", "local/some");
  expect((await agents.json("plan", "execute", id)).error).toBeUndefined();
  const context = await shownContext(world, id);
  expect(context).toContain("- two: The skill two");
  expect(context).not.toContain("- one: The skill one");
  expect(await told(world, id, "work.1")).toContain("Body of two.");

  scripted(world, { tool: "read_file", parameters: { path: "a.txt" } });
  const without = await world.anotherThought("--execution-actor", "local/none");
  expect((await agents.json("plan", "execute", without)).error).toBeUndefined();
  expect(await shownContext(world, without)).not.toContain("use_skill");

  const wrong = await world.anotherThought("--execution-actor", "local/wrong");
  expect((await agents.json("plan", "execute", wrong)).error?.message).toContain('there is no skill "twoo"');
}, 60_000);

test("nothing outside of the folder is told, nor what is too large or not a text; the call fails and the plan goes on", async () => {
  using world = new ThinkingWorld();
  const { agents } = world;
  const skill = ".agents/skills/sly";
  put(world.repository, `${skill}/SKILL.md`, skillText("sly", "Reads other files", "Read secret.txt."));
  put(agents.directory, "outside.txt", "a text of the user");
  symlinkSync(join(agents.directory, "outside.txt"), join(world.repository, skill, "secret.txt"));
  put(world.repository, `${skill}/large.txt`, "x".repeat(256 * 1024 + 1));
  put(world.repository, `${skill}/image.bin`, new Uint8Array([0, 1, 2, 255]));
  const files = [
    "secret.txt",
    "../../../../outside.txt",
    join(agents.directory, "outside.txt"),
    "large.txt",
    "image.bin",
  ];
  scripted(world, ...files.map((file) => ({ tool: "use_skill", parameters: { name: "sly", file } })));
  const id = await world.thinking();
  expect((await agents.json("plan", "execute", id)).error).toBeUndefined();
  const texts: string[] = [];
  for (const [index] of files.entries()) texts.push(await told(world, id, `work.${index + 1}`));
  expect(texts.join("\n")).not.toContain("a text of the user");
  expect(texts.join("\n")).not.toContain("xxxxxxxx");
  expect(texts[0]).toContain("leads out of the skill's folder");
  expect(texts[3]).toContain("large.txt is larger than 256 KiB");
  expect(texts[4]).toContain("image.bin is not a text");
}, 60_000);

test("a repository cannot make a folder of the user a skill by a link", async () => {
  using world = new ThinkingWorld();
  put(world.agents.directory, "private/SKILL.md", skillText("private", "Of the user", "Private words."));
  mkdirSync(join(world.repository, ".claude/skills"), { recursive: true });
  symlinkSync(join(world.agents.directory, "private"), join(world.repository, ".claude/skills/private"));
  const { data } = await jsonIn(world, "skill", "list");
  expect(data["skills"]).toContainEqual(
    expect.objectContaining({
      name: "private",
      state: "not valid",
      problem: "its folder is a link that leads out of the repository",
    }),
  );
});

test("a list that is too long is cut, and says so", async () => {
  using world = new ThinkingWorld();
  for (let index = 10; index < 24; index += 1)
    put(
      world.repository,
      `.agents/skills/s${index}/SKILL.md`,
      skillText(`s${index}`, `Number ${index} ${"word ".repeat(180)}`, "Body."),
    );
  scripted(world, { tool: "use_skill", parameters: { name: "s23" } });
  const id = await world.thinking();
  expect((await world.agents.json("plan", "execute", id)).error).toBeUndefined();
  expect(await shownContext(world, id)).toMatch(/the list is cut here; \d+ more without their descriptions: .*s23/);
  expect(await told(world, id, "work.1")).toContain("Body.");
}, 60_000);

describe("the commands", () => {
  test("list says which skill is used of two with a name; show prints it; remove leaves the folder", async () => {
    using world = new ThinkingWorld();
    const { agents } = world;
    const home = join(agents.directory, "home");
    agents.inOwnProcess({ HOME: home });
    put(home, ".claude/skills/tidy/SKILL.md", skillText("tidy", "Of the user", "The user's words."));
    put(world.repository, ".agents/skills/tidy/SKILL.md", skillText("tidy", "Of the project", "The project's words."));
    cpSync(EXAMPLE, join(agents.directory, "release-notes"), { recursive: true });
    const folder = join(agents.directory, "release-notes");
    expect((await jsonIn(world, "skill", "add", folder)).error).toBeUndefined();
    expect((await jsonIn(world, "skill", "add", folder)).error?.code).toBe("ALREADY_EXISTS");
    expect((await jsonIn(world, "skill", "list")).data).toMatchObject({
      skills: [
        { name: "release-notes", from: "added", state: "ready" },
        { name: "tidy", from: "project", state: "ready", hidden_by: null },
        { name: "tidy", from: "user", state: "hidden", hidden_by: expect.stringContaining(".agents/skills/tidy") },
      ],
      summary: { total: 3, ready: 2 },
    });
    const shown = await agents.run(["skill", "show", "tidy"], { cwd: world.repository });
    expect(shown.stdout).toContain("The project's words.");
    expect((await agents.run(["skill", "list"], { cwd: world.repository })).stdout).toContain("hidden by");
    expect((await jsonIn(world, "skill", "show", "tydy")).error).toMatchObject({ code: "NOT_FOUND" });
    expect((await jsonIn(world, "skill", "show", "release-notes")).data["skill"]).toMatchObject({
      license: "MIT",
      metadata: { version: "1.0" },
      files: ["scripts/commits.sh"],
    });
    expect((await agents.run(["skill", "remove", "release-notes"])).stdout).toContain("was not touched");
    expect((await jsonIn(world, "skill", "remove", "release-notes")).error?.code).toBe("NOT_FOUND");
    expect((await jsonIn(world, "audit", "verify")).exit_code).toBe(0);
  }, 60_000);

  test("check names the line of each problem and ends with 1; the example has none", async () => {
    using world = new ThinkingWorld();
    const { agents } = world;
    expect(await agents.json("skill", "check", EXAMPLE)).toMatchObject({
      exit_code: 0,
      data: { valid: true, problems: [], warnings: [] },
    });
    put(
      agents.directory,
      "bad/SKILL.md",
      `---\nname: Other--Name\nlicense: MIT\ndescription: ${"d".repeat(1025)}\n---\nx\n`,
    );
    const bad = await agents.run(["skill", "check", "bad"]);
    expect(bad.code).toBe(1);
    expect(bad.stderr + bad.stdout).toMatch(/SKILL\.md:2:1: name must be lower-case letters/);
    expect(bad.stderr + bad.stdout).toMatch(/SKILL\.md:4:1: description is longer than 1024 characters/);
    put(agents.directory, "plain/SKILL.md", "no front matter\n");
    expect((await agents.json("skill", "check", "plain/SKILL.md")).data["problems"]).toMatchObject([
      { line: 1, message: 'must begin with front matter between two lines "---"' },
    ]);
    put(agents.directory, "named/SKILL.md", skillText("other", "d", "b"));
    expect((await agents.json("skill", "check", "named")).data["problems"]).toMatchObject([
      { line: 2, message: 'name must be "named", the name of its folder' },
    ]);
    expect((await agents.json("skill", "add", "named")).error).toMatchObject({ code: "VALIDATION" });
    put(
      agents.directory,
      "odd/SKILL.md",
      "---\nname: odd\ndescription: d\nmodel: opus\nallowed-tools: Read, Grep\n---\nb\n",
    );
    put(agents.directory, "odd/data.bin", new Uint8Array([0]));
    expect((await agents.json("skill", "check", "odd")).data).toMatchObject({
      valid: true,
      warnings: [{ message: "model is not a key of the standard" }, { message: "data.bin is not a text." }],
    });
    put(agents.directory, "huge/SKILL.md", skillText("huge", "d", "b".repeat(64 * 1024)));
    expect((await agents.json("skill", "check", "huge")).data["problems"]).toMatchObject([
      { message: "SKILL.md is larger than 64 KiB." },
    ]);
    expect((await agents.json("skill", "check", "gone")).exit_code).toBe(1);
  });
});
