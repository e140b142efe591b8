/** Plans that use real MCP servers, from outside: the operations, a real repository, a scripted model. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { calls, FIX, LoopWorld, step, strategy } from "./testing/loop-world.ts";

const EVERYTHING = program(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));
const FILESYSTEM = program(import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"));
const MEMORY = program(import.meta.resolve("@modelcontextprotocol/server-memory/dist/index.js"));

function program(url: string): string[] {
  return [process.execPath, fileURLToPath(url)];
}

test("a plan calls the tools of server-everything, and reads its resources", async () => {
  await using world = new LoopWorld();
  const agents = await world.agents();
  await agents.run("mcp.server.add", { server: "everything", command: EVERYTHING });
  const tested = await agents.run("mcp.server.test", { server: "everything", directory: world.directory });
  expect(tested).toMatchObject({ protocol: "2025-11-25" });
  const city = { name: "city", required: true };
  expect(tested.prompts.find(({ name }) => name === "args-prompt")).toMatchObject({
    arguments: [city, { name: "state", required: false }],
  });
  expect(tested.tools.map(({ name }) => name)).toContain("echo");
  world.script(
    strategy(FIX),
    step("fix", calls("mcp__everything__echo", { message: "hello there" })),
    step("fix", calls("mcp__everything__echo", { message: 7 })),
    step("fix", calls("mcp_list_resources", {})),
    step("fix", calls("mcp__everything__get_tiny_image", {})),
    { match: { user: "get-tiny-image" }, ...calls("write_file", { path: "hello.txt", content: "hello\n" }) },
    { match: { tool: "write_file" }, text: "Done." },
  );
  const { planId } = await world.run("say hello");
  const { messages, tools } = await world.shown(planId, "fix.6");
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["mcp__everything__echo", "mcp_read_resource"]));
  const outputs = messages.filter(({ role }) => role === "tool").map(({ output }) => output);
  expect(outputs.join("\n")).toContain("Echo: hello there");
  expect(outputs.join("\n")).toContain(
    "The parameters of mcp__everything__echo do not fit: message: is of type number",
  );
});

test("a server that works in the sandbox changes files there, and its changes are the call's", async () => {
  await using world = new LoopWorld();
  const agents = await world.agents();
  const files = { server: "files", command: [...FILESYSTEM, "."], worksIn: "sandbox" } as const;
  await agents.run("mcp.server.add", files);
  world.script(
    strategy(FIX),
    step("fix", calls("mcp__files__write_file", { path: "made.txt", content: "by the server\n" })),
    step("fix", { match: { tool: "mcp__files__write_file" }, text: "Made." }),
  );
  const { planId } = await world.run("make a file");
  const { patch } = await agents.run("plan.diff", { plan: planId });
  expect(patch).toContain("+by the server");
  expect(existsSync(join(world.repository, "made.txt"))).toBe(false);
  const { tree } = await agents.run("plan.tree", { plan: planId });
  expect(JSON.stringify(tree)).toContain("mcp__files__write_file");
});

test("a server of the user keeps its state between calls, and gets no variable that is not named", async () => {
  await using world = new LoopWorld();
  world.environment = { MCP_TEST_TOKEN: "tok-1234567890abcdef", OTHER_SECRET: "other-9876543210" };
  const agents = await world.agents();
  const file = join(world.directory, "memory.jsonl");
  await agents.run("mcp.server.add", { server: "memory", command: MEMORY, env: { MEMORY_FILE_PATH: file } });
  await agents.run("mcp.server.add", { server: "every", command: EVERYTHING, pass: ["MCP_TEST_TOKEN"] });
  const entities = [{ name: "Ada", entityType: "person", observations: ["likes tea"] }];
  world.script(
    strategy(FIX),
    step("fix", calls("mcp__memory__create_entities", { entities })),
    step("fix", { match: { tool: "mcp__memory__create_entities" }, ...calls("mcp__memory__read_graph", {}) }),
    step("fix", { match: { tool: "mcp__memory__read_graph" }, ...calls("mcp__every__get_env", {}) }),
    step("fix", { match: { tool: "mcp__every__get_env" }, ...calls("write_file", { path: "b.txt", content: "b\n" }) }),
    step("fix", { match: { tool: "write_file" }, text: "Known." }),
  );
  const { planId } = await world.run("remember Ada");
  const { messages } = await world.shown(planId, "fix.5");
  const told = messages.map(({ output }) => output ?? "").join("\n");
  expect(told).toContain("likes tea");
  expect(told).toContain("MCP_TEST_TOKEN");
  expect(told).not.toContain("tok-1234567890abcdef");
  expect(told).not.toContain("OTHER_SECRET");
  expect(readFileSync(join(world.directory, "data/cleveragents.db"), "latin1")).not.toContain(file);
  const shown = await agents.run("mcp.server.show", { server: "memory" });
  expect(shown.server.values).toEqual([{ name: "MEMORY_FILE_PATH", from: "the credentials file" }]);
});

test("a prompt of a server is the request of a plan, with the person's own words after it", async () => {
  await using world = new LoopWorld();
  const agents = await world.agents();
  await agents.run("mcp.server.add", { server: "every", command: EVERYTHING });
  const writes = (path: string): object[] => [
    strategy(FIX),
    step("fix", calls("write_file", { path, content: "b\n" })),
    step("fix", { match: { tool: "write_file" }, text: "Done." }),
  ];
  world.script(...writes("b.txt"));
  const prompt = { prompt: "every/args-prompt", arguments: { city: "Oslo" } };
  const { planId } = await world.run("Answer in one line.", prompt);
  expect((await world.shown(planId, "fix.1")).messages.map(({ content }) => content).join("\n")).toMatch(
    /What's weather in Oslo\?\n\nAnswer in one line\./,
  );
  world.script(...writes("c.txt"));
  const { planId: silent } = await world.run("", { prompt: "every/simple-prompt" });
  expect(JSON.stringify(await world.shown(silent, "fix.1"))).toContain("This is a simple prompt without arguments.");
  const plans = (await agents.run("plan.list", {})).plans.length;
  const refused = async (more: object): Promise<string> =>
    world.run("x", more).then(
      () => "",
      (error: unknown) => String(error),
    );
  expect(await refused({ prompt: "every/args-promt" })).toContain('no prompt of the MCP server every "args-promt"');
  expect(await refused({ prompt: "every/args-prompt", arguments: { town: "x" } })).toMatch(
    /city is missing; town is not an argument of it/,
  );
  expect(await refused({ prompt: "args-prompt" })).toContain("write it as server/name");
  expect(await refused({ prompt: "none/x" })).toContain("none");
  expect((await agents.run("plan.list", {})).plans).toHaveLength(plans);
});
