/** Tools that users define, through the command line: defined, tried, called by a model, and held to every promise. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Envelope } from "./testing/agents.ts";
import { stepTurn, strategyTurn, ThinkingWorld, turn } from "./testing/thinking-world.ts";

const STEPS = [{ id: "work", description: "Work with the tool", confidence: 0.9, risk: 0.1, resources: ["api"] }];

const STAMP = `name: stamp
description: Write a stamp into a file
parameters:
  type: object
  properties:
    path: { type: string, description: the file }
    times: { type: integer, minimum: 1 }
  required: [path]
  additionalProperties: false
command: |
  i=0; while [ $i -lt "\${ARG_TIMES:-1}" ]; do echo "stamped" >> "$ARG_PATH"; i=$((i+1)); done
  cat
`;

/** Adds the tools, each in a file of its own. */
async function added(world: ThinkingWorld, ...tools: string[]): Promise<void> {
  for (const [index, tool] of tools.entries()) {
    world.agents.write(`tool-${index}.yaml`, tool);
    const { error } = await world.agents.json("tool", "add", "--config", `tool-${index}.yaml`);
    if (error !== undefined) throw new Error(`tool add: ${error.message} ${JSON.stringify(error.detail)}`);
  }
}

/** A model that makes these calls one after the other, and then says that it is done. */
function scripted(world: ThinkingWorld, ...calls: { tool: string; parameters: object }[]): void {
  world.script(
    strategyTurn(STEPS),
    stepTurn("work", { tool_calls: calls.slice(0, 1) }),
    ...calls
      .slice(1)
      .map((call, index) => stepTurn("work", { match: { tool: calls[index]?.tool }, tool_calls: [call] })),
    stepTurn("work", { match: { tool: calls.at(-1)?.tool }, text: "Done." }),
    turn({ text: "Nothing needs to change.", times: 5 }),
  );
}

/** A command in the repository. */
async function jsonIn(world: ThinkingWorld, ...words: string[]): Promise<Envelope> {
  const { stdout } = await world.agents.run([...words, "--format", "json"], { cwd: world.repository });
  return JSON.parse(stdout) as Envelope;
}

/** Everything that the model was told as the result of its calls. */
async function toldIn(world: ThinkingWorld, id: string): Promise<string> {
  return (await world.agents.run(["plan", "explain", id, "work.1", "--output"])).stdout;
}

test("a model calls the user's own tool: its change is credited, applied and undone", async () => {
  using world = new ThinkingWorld();
  const { agents } = world;
  await added(world, STAMP);
  scripted(world, { tool: "local/stamp", parameters: { path: "a.txt", times: 2 } });
  const id = await world.thinking();
  expect(await agents.json("plan", "execute", id)).toMatchObject({ exit_code: 0, data: { changes: { files: 1 } } });
  expect((await agents.json("plan", "diff", id)).data["files"]).toMatchObject([{ path: "a.txt", steps: ["work/1.1"] }]);
  expect(await toldIn(world, id)).toContain('# local/stamp\n{"path":"a.txt","times":2}');
  expect((await agents.json("plan", "apply", id, "--yes")).exit_code).toBe(0);
  expect(readFileSync(join(world.repository, "a.txt"), "utf8")).toBe("one\ntwo\nstamped\nstamped\n");
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
  expect((await agents.json("plan", "undo", id, "--yes")).exit_code).toBe(0);
  expect(readFileSync(join(world.repository, "a.txt"), "utf8")).toBe("one\ntwo\n");
});

test("the model is offered the tool under a legal name, with its schema, and hears of parameters that do not fit", async () => {
  using world = new ThinkingWorld();
  await added(world, STAMP);
  scripted(world, { tool: "local/stamp", parameters: { path: 7, color: "red" } });
  const id = await world.thinking();
  expect((await world.agents.json("plan", "execute", id)).exit_code).toBe(0);
  expect(await toldIn(world, id)).toContain(
    "The parameters of local/stamp do not fit: path: is of type number; it must be string; color: is not a parameter. It takes: path, times?.",
  );
  const shown = await world.agents.run(["plan", "explain", id, "work.1", "--show-context"]);
  expect(shown.stdout).toContain("local/stamp");
  expect(shown.stdout).toContain("Write a stamp into a file");
});

const SECRET = `sk-ant-api03-${"Zq3Lw8Xv5Rt1".repeat(7)}AA`;
const BAD: readonly (readonly [what: string, tool: string, told: RegExp])[] = [
  ["fails", "command: 'echo went wrong >&2; exit 3'", /exit code 3\nwent wrong/],
  ["hangs", "command: 'echo so far; sleep 300'\ntimeout_ms: 700", /killed after 0.7 s \(its time limit\)\nso far/],
  ["floods", "command: 'yes flooded | head -c 20000000'", /flooded\n\[?/],
  [
    "prints a secret",
    `command: [printf, '%s\\n', "key sk-ant-{part}"]\nparameters: { type: object, properties: { part: { type: string } } }`,
    /key \[/,
  ],
  ["writes outside", "command: 'echo x > /etc/own-tool-was-here || echo refused'", /refused/],
  ["is not JSON", "command: 'echo not json'\noutput: json", /The output of local\/bad is not JSON/],
  ["reads only", "command: 'echo x > a.txt || echo refused'\nwrites: false", /refused/],
];

test.each(BAD)(
  "a tool that %s costs its call and not the plan",
  async (_, tool, told) => {
    using world = new ThinkingWorld();
    await added(world, `name: bad\ndescription: misbehaves\n${tool}\n`);
    const parameters = tool.includes("{part}") ? { part: SECRET.slice("sk-ant-".length) } : {};
    scripted(world, { tool: "local/bad", parameters });
    const id = await world.thinking();
    expect(await world.agents.json("plan", "execute", id)).toMatchObject({
      exit_code: 0,
      data: { changes: { files: 0 } },
    });
    const text = await toldIn(world, id);
    expect(text).toMatch(told);
    expect(text).not.toContain(SECRET);
    if (tool.includes("yes flooded")) {
      const shown = await world.agents.run(["plan", "explain", id, "work.2", "--show-context"]);
      expect(shown.stdout).toMatch(/… \d+ lines left out; read them with read_file/);
      expect(shown.stdout.length).toBeLessThan(100_000);
    }
    expect(existsSync("/etc/own-tool-was-here")).toBe(false);
  },
  60_000,
);

test("parameters reach the program as they are, and never as a part of a command", async () => {
  using world = new ThinkingWorld();
  const properties = "properties: { text: { type: string }, list: { type: array } }";
  await added(
    world,
    `name: as-list\ndescription: prints\nparameters: { type: object, ${properties} }\ncommand: [printf, "<%s>", "{text}", "{list}"]\n`,
    `name: as-shell\ndescription: prints\nparameters: { type: object, ${properties} }\ncommand: 'printf "<%s>" "$ARG_TEXT"; cat'\n`,
  );
  const text = `"; touch harm.txt; $(touch harm.txt) \`touch harm.txt\` '`;
  scripted(
    world,
    { tool: "local/as-list", parameters: { text, list: [1, "two"] } },
    { tool: "local/as-shell", parameters: { text } },
  );
  const id = await world.thinking();
  expect(await world.agents.json("plan", "execute", id)).toMatchObject({
    exit_code: 0,
    data: { changes: { files: 0 } },
  });
  expect(await toldIn(world, id)).toContain(`<${text}><[1,"two"]>`);
  const { stdout } = await world.agents.run(["plan", "explain", id, "work.2", "--output"]);
  expect(stdout).toContain(`<${text}>${JSON.stringify({ text })}`);
});

test("guards know a tool by its name, and an actor gets the tools that it names", async () => {
  using world = new ThinkingWorld();
  const { agents } = world;
  await added(world, STAMP);
  agents.write(
    "guarded.yaml",
    "name: guarded\ndescription: d\nextends: trusted\nguards: { tool_denylist: ['local/st*'] }\n",
  );
  expect((await agents.json("automation-profile", "add", "--config", "guarded.yaml")).error).toBeUndefined();
  scripted(world, { tool: "local/stamp", parameters: { path: "a.txt" } });
  const id = await world.thinking(undefined, "--automation-profile", "guarded");
  expect((await agents.json("plan", "execute", id)).exit_code).toBe(0);
  expect(await toldIn(world, id)).toContain('"local/st*" is denied');
  agents.write(
    "actor.yaml",
    "name: named\ntype: llm\ndescription: d\nprovider: scripted\nmodel: demo.yaml\ntools: [read_file, local/stmp]\n",
  );
  expect((await agents.json("actor", "add", "--config", "actor.yaml")).error).toBeUndefined();
  const wrong = await world.anotherThought("--execution-actor", "local/named");
  expect((await agents.json("plan", "execute", wrong)).error?.message).toContain(
    'there is no tool "local/stmp" (did you mean "local/stamp"?)',
  );
});

test("a tool is a step of a tool actor, and of graphs, by its name", async () => {
  using world = new ThinkingWorld();
  await added(world, STAMP);
  const id = await world.plan("  - { id: stamp, tool: local/stamp, params: { path: '{who}.txt' } }\n");
  expect((await world.agents.json("plan", "execute", id)).error).toBeUndefined();
  expect((await world.agents.json("plan", "diff", id)).data["patch"]).toContain("+++ b/world.txt");
});

describe("the commands", () => {
  test("tool add, list, show and remove; a second add needs --replace", async () => {
    using world = new ThinkingWorld();
    const { agents } = world;
    await added(world, STAMP);
    expect((await agents.json("tool", "add", "--config", "tool-0.yaml")).error?.code).toBe("ALREADY_EXISTS");
    expect((await agents.json("tool", "add", "--config", "tool-0.yaml", "--replace")).error).toBeUndefined();
    expect((await agents.json("tool", "list")).data).toMatchObject({
      tools: [{ name: "local/stamp", from: "own", state: "ready", writes: true, kind: "shell" }],
      summary: { total: 1, not_accepted: 0 },
    });
    expect((await agents.run(["tool", "list"])).stdout).toContain("local/stamp");
    expect((await agents.run(["tool", "show", "stamp"])).stdout).toContain('"minimum": 1');
    expect((await agents.json("tool", "show", "read_file")).data["tool"]).toMatchObject({ from: "built-in" });
    expect((await agents.json("tool", "show", "stmp")).error).toMatchObject({ code: "NOT_FOUND" });
    expect((await agents.json("tool", "remove", "stamp")).exit_code).toBe(2);
    expect((await agents.run(["tool", "remove", "stamp", "--yes"])).stdout).toContain("Tool local/stamp removed.");
    expect((await agents.json("tool", "list")).data["tools"]).toEqual([]);
  });

  test("every problem of a file is told with its line", async () => {
    using world = new ThinkingWorld();
    world.agents.write(
      "bad.yaml",
      "name: read_file\ndescription: d\ncommand: [run, '{nope}']\ntimeout: 3\nwrites: sometimes\nparameters: { type: array }\nenv: { 1X: y }\n",
    );
    const { stderr } = await world.agents.run(["tool", "add", "--config", "bad.yaml"]);
    for (const part of [
      "bad.yaml:4:1: timeout: is written timeout_ms",
      "bad.yaml:5:1: writes: must be true or false",
      "1X",
    ])
      expect(stderr).toContain(part);
    const refused = async (text: string): Promise<string> => {
      world.agents.write("bad.yaml", `name: one\ndescription: d\n${text}`);
      return (await world.agents.run(["tool", "add", "--config", "bad.yaml"])).stderr;
    };
    expect(await refused("command: x\nmodule: y\n")).toContain('exactly one of "command" and "module"');
    expect(await refused("command: [run, '{nope}']\n")).toContain("there is no parameter for {nope}");
    expect(await refused("command: x\nparameters: { type: array }\n")).toContain('parameters.type: must be "object"');
    expect(await refused("command: x\nparameters: { type: object, properties: { a: { pattern: '(' } } }\n")).toContain(
      "parameters.properties.a.pattern",
    );
    expect(await refused("command: echo {a}\nparameters: { type: object, properties: { a: {} } }\n")).toContain(
      '"$ARG_A"',
    );
    expect(await refused("module: ./gone.mjs\n")).toContain("cannot be read");
    expect(await refused("command: x\nparameters: { type: object, properties: { a-b: {}, a_b: {} } }\n")).toContain(
      "ARG_A_B",
    );
    world.agents.write("bad.yaml", "name: read-file\ndescription: d\ncommand: x\n");
    expect((await world.agents.run(["tool", "add", "--config", "bad.yaml"])).stderr).toContain("built-in tool");
  });

  test("tool try calls it in a throwaway copy, and shows its output and what it would change", async () => {
    using world = new ThinkingWorld();
    await added(world, STAMP);
    const before = world.state();
    const words = ["tool", "try", "stamp", "--arg", "path=a.txt", "--arg", "times=2"];
    const tried = await jsonIn(world, ...words);
    expect(tried).toMatchObject({
      exit_code: 0,
      data: { failure: null, output: '{"path":"a.txt","times":2}', changes: [{ path: "a.txt", change: "modified" }] },
    });
    expect(tried.data["patch"]).toContain("+stamped\n+stamped");
    const { stdout } = await world.agents.run(words, { cwd: world.repository });
    expect(stdout).toContain("+stamped");
    expect(world.state()).toBe(before);
    expect(world.git("for-each-ref", "refs/cleveragents")).toBe("");
    const unfit = await jsonIn(world, "tool", "try", "stamp", "--arg", "times=two");
    expect(unfit.error?.message).toContain("path: is required");
    expect((await world.agents.json("tool", "try", "stamp")).error?.message).toContain("no git repository here");
  });
});

describe("a repository's tools", () => {
  const BROUGHT = { tool: "local/brought", parameters: {} };

  /** A repository that brings the tool. */
  function bringing(world: ThinkingWorld, text = "command: 'echo brought >> a.txt'\n"): void {
    mkdirSync(join(world.repository, ".agents/tools"), { recursive: true });
    const file = join(world.repository, ".agents/tools/brought.yaml");
    writeFileSync(file, `name: brought\ndescription: comes along\n${text}`);
    writeFileSync(join(world.repository, ".agents/tools/broken.yaml"), "name: [\n");
    world.commit();
  }

  test("are not used before the user has accepted their content, and not after it has changed", async () => {
    using world = new ThinkingWorld();
    const { agents } = world;
    bringing(world);
    scripted(world, BROUGHT);
    const id = await world.thinking();
    const first = await agents.json("plan", "execute", id);
    expect(first).toMatchObject({ exit_code: 0, data: { changes: { files: 0 } } });
    expect(JSON.stringify(first.messages)).toContain("api brings 1 tool that you have not accepted");
    expect(await notOffered(world, id, "local/brought")).toBe(true);
    expect((await jsonIn(world, "tool", "list")).data["tools"]).toMatchObject([
      { name: ".agents/tools/broken.yaml", state: "not valid" },
      { name: "local/brought", from: "repository", state: "not accepted" },
    ]);
    const unasked = await jsonIn(world, "tool", "accept");
    expect(unasked).toMatchObject({ exit_code: 2 });
    expect((await jsonIn(world, "tool", "accept", "--yes")).data).toMatchObject({ accepted: true });
    const second = await world.anotherThought();
    expect(await agents.json("plan", "execute", second)).toMatchObject({ data: { changes: { files: 1 } } });
    bringing(world, "command: 'echo other >> a.txt'\n");
    const third = await world.anotherThought();
    expect(await agents.json("plan", "execute", third)).toMatchObject({ data: { changes: { files: 0 } } });
  });
});

describe("a module", () => {
  const MODULE = `import { writeFileSync } from "node:fs";
export default async ({ text }) => {
  console.log("working");
  if (text === "loop") for (;;) {}
  if (text === "fail") throw new Error("it broke");
  writeFileSync("made.txt", text + (process.env.SECRET_OF_OURS ?? ""));
  return { wrote: text.length };
};
`;
  const TOOL =
    "name: mod\ndescription: d\nparameters: { type: object, properties: { text: { type: string } } }\nmodule: ./mod.mjs\ntimeout_ms: 4000\n";

  async function modular(world: ThinkingWorld): Promise<Envelope> {
    world.agents.write("mod.mjs", MODULE);
    world.agents.write("mod.yaml", TOOL);
    return world.agents.json("tool", "add", "--config", "mod.yaml", "--yes");
  }

  test("runs outside of the sandbox only after a yes and under a profile that allows it; a changed one must be accepted again", async () => {
    using world = new ThinkingWorld();
    const { agents } = world;
    agents.write("mod.mjs", MODULE);
    agents.write("mod.yaml", TOOL);
    const unasked = await agents.json("tool", "add", "--config", "mod.yaml");
    expect(unasked.error?.message).toContain("to run outside of the sandbox, with all your rights");
    const added = await modular(world);
    expect(JSON.stringify(added.messages)).toContain("It runs outside of the sandbox");
    scripted(
      world,
      { tool: "local/mod", parameters: { text: "abc" } },
      { tool: "local/mod", parameters: { text: "fail" } },
      { tool: "local/mod", parameters: { text: "loop" } },
    );
    const id = await world.thinking();
    expect((await agents.json("plan", "execute", id)).data).toMatchObject({ changes: { files: 0 } });
    expect(await notOffered(world, id, "local/mod")).toBe(true);
    agents.environment["SECRET_OF_OURS"] = "leaked";
    const trusting = await world.anotherThought("--automation-profile", "full-auto");
    expect((await agents.json("plan", "execute", trusting)).data).toMatchObject({ changes: { files: 1 } });
    expect(await toldIn(world, trusting)).toContain('working\n{"wrote":3}');
    const output = async (step: string): Promise<string> =>
      (await agents.run(["plan", "explain", trusting, step, "--output"])).stdout;
    expect(await output("work.2")).toContain("failed: it broke");
    expect(await output("work.3")).toContain("it did not end within 4000 ms");
    expect((await agents.json("plan", "diff", trusting)).data["patch"]).toContain("+abc\n");
    agents.write("mod.mjs", `${MODULE}// changed\n`);
    expect((await agents.json("tool", "list")).data["tools"]).toMatchObject([{ state: "changed" }]);
    const after = await world.anotherThought("--automation-profile", "full-auto");
    expect((await agents.json("plan", "execute", after)).data).toMatchObject({ changes: { files: 0 } });
    const steps = "name: modular\ntype: tool\ndescription: d\nsteps: [{ tool: local/mod, params: { text: x } }]\n";
    agents.write("steps.yaml", steps);
    expect((await agents.json("actor", "add", "--config", "steps.yaml")).error).toBeUndefined();
    const named = await world.anotherThought("--automation-profile", "full-auto", "--execution-actor", "local/modular");
    expect((await agents.json("plan", "execute", named)).error?.message).toContain("has changed since you accepted it");
    const safe = await world.anotherThought("--execution-actor", "local/modular");
    expect((await agents.json("plan", "execute", safe)).error?.message).toContain("does not allow unsafe tools");
    expect((await agents.json("tool", "add", "--config", "mod.yaml", "--replace", "--yes")).error).toBeUndefined();
    expect((await agents.json("plan", "execute", named)).error).toBeUndefined();
  }, 90_000);
});

test("a plan that is killed in a tool runs it again from a clean start, and repeats nothing that is recorded", async () => {
  using world = new ThinkingWorld();
  const { agents } = world;
  await added(world, STAMP, "name: stuck\ndescription: d\ncommand: 'echo half >> a.txt; sleep 300'\n");
  scripted(world, { tool: "local/stamp", parameters: { path: "once.txt" } }, { tool: "local/stuck", parameters: {} });
  const id = await world.thinking();
  const { child, finished } = agents.start(["plan", "execute", id], { group: true });
  const tree = join(agents.dataDir, "sandboxes", id, "1", "api", "tree");
  await until(() => existsSync(join(tree, "a.txt")) && readFileSync(join(tree, "a.txt"), "utf8").includes("half"));
  process.kill(-(child.pid ?? 0), "SIGKILL");
  await finished;
  // The plan keeps the tools that it began with.
  expect((await agents.json("tool", "remove", "stuck", "--yes")).error).toBeUndefined();
  const resumed = agents.start(["plan", "execute", id], { group: true });
  await until(() => readFileSync(join(tree, "a.txt"), "utf8") === "one\ntwo\nhalf\n");
  expect(readFileSync(join(tree, "once.txt"), "utf8")).toBe("stamped\n");
  process.kill(-(resumed.child.pid ?? 0), "SIGKILL");
  await resumed.finished;
}, 90_000);

/** Whether the model was not offered the tool that it called. */
async function notOffered(world: ThinkingWorld, id: string, tool: string): Promise<boolean> {
  const { stdout } = await world.agents.run(["plan", "explain", id, "work.2", "--show-context"]);
  return /no tool/i.test(stdout) && stdout.includes(tool);
}

async function until(holds: () => boolean): Promise<void> {
  const end = Date.now() + 40_000;
  while (!holds()) {
    if (Date.now() > end) throw new Error("it did not become true");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
