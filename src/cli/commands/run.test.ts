import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { makeRepository } from "../../testing/git-repository.ts";
import { CommandContext } from "../command-context.ts";
import { Input } from "../command-spec.ts";
import type { Asking } from "../confirm.ts";
import { resolvePaths } from "../paths.ts";
import { run } from "./run.ts";

/** `agents run` with a person in front of it, who answers what is asked. */
const STEPS = [
  { id: "note", description: "Write the note", risk: 0.2, confidence: 0.9, alternatives: ["Say it aloud"] },
];
const TURNS = [
  {
    match: {
      user: "Decide",
      system: "/different from this strategy: note \\(Write the note\\)\\? say it aloud, and twice/",
    },
    tool_calls: [
      { tool: "record_strategy", parameters: { steps: [{ id: "aloud", description: "Say it aloud, and twice" }] } },
    ],
    times: "always",
  },
  {
    match: { user: "Decide" },
    tool_calls: [{ tool: "record_strategy", parameters: { steps: STEPS } }],
    times: "always",
  },
  { match: { user: "step", tool: "write_file" }, text: "Done.", times: "always" },
  {
    match: { user: "step", system: 'How is the step "note" done? Say it aloud' },
    tool_calls: [{ tool: "write_file", parameters: { path: "aloud.txt", content: "x\n" } }],
  },
  {
    match: { user: "step" },
    tool_calls: [{ tool: "write_file", parameters: { path: "note.txt", content: "x\n" } }],
  },
];

let directory = "";
let repository = "";
let said = "";

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "cleveragents-run-"));
  repository = makeRepository(join(directory, "shop"));
  await writeFile(join(directory, "model.yaml"), JSON.stringify({ turns: TURNS }));
  said = "";
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    said += String(text);
    return true;
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(directory, { recursive: true, force: true });
});

/** Waits for each question in turn, and answers it. */
function person(
  ...answers: readonly (readonly [question: string, answer: string])[]
): Asking & { heard: () => string } {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = Object.assign(new PassThrough(), { isTTY: true });
  const left = [...answers];
  let heard = "";
  let seen = 0;
  output.setEncoding("utf8").on("data", (text: string) => {
    heard += text;
    const [next] = left;
    if (next === undefined || !heard.slice(seen).includes(next[0])) return;
    left.shift();
    seen = heard.length;
    setImmediate(() => input.write(`${next[1]}\n`));
  });
  return { input, output, heard: () => heard };
}

async function asked(profile: string, asking: Asking): Promise<Awaited<ReturnType<typeof run>>> {
  const environment = {
    CLEVERAGENTS_DATA_DIR: join(directory, "data"),
    CLEVERAGENTS_PROVIDER_SCRIPTED_TRANSCRIPT: join(directory, "model.yaml"),
    NO_COLOR: "1",
  };
  const paths = resolvePaths({}, environment);
  await using context = new CommandContext({ paths, options: { verbose: 0, format: "plain" }, environment });
  const resources = await context.resources();
  await resources.addResource({ type: "git-checkout", name: "shop", arguments: { path: repository } });
  await (await context.projects()).createProject({ name: "shop", resources: ["shop"] });
  const options = { project: "shop", automationProfile: profile, verify: true };
  return await run(context, new Input([["write", "a", "note"]], options), asking);
}

test("the strategy is shown and approved, then the difference, and it lands", async () => {
  const somebody = person(
    ["Carry this out? [y/N, or what should be different] ", "y"],
    ["Land 1 file (+1 −0)? [y/N] ", "yes"],
  );
  const { data, next } = await asked("supervised", somebody);
  expect(data).toMatchObject({ state: "applied", landings: [{ files: ["note.txt"] }] });
  expect(next?.[0]).toBe(`agents plan undo ${String(data["plan_id"])}`);
  expect(said).toContain("Strategy: 1 step");
  expect(said).toContain("+++ b/note.txt");
  expect(await readFile(join(repository, "note.txt"), "utf8")).toBe("x\n");
});

test("a no to the strategy changes nothing, and the plan waits", async () => {
  const { data, status, messages } = await asked(
    "supervised",
    person(["Carry this out? [y/N, or what should be different] ", "n"]),
  );
  expect({ phase: data["phase"], executed: data["executed"], status }).toEqual({
    phase: "strategize",
    executed: false,
    status: "warn",
  });
  expect(messages).toMatchObject([{ text: "Nothing was executed." }]);
});

test("an answer that is neither is guidance: another strategy is made and shown, and only that one is carried out", async () => {
  const question = "Carry this out? [y/N, or what should be different] ";
  const somebody = person([question, "say it aloud, and twice"], [question, "y"], ["Land 1 file", "y"]);
  const { data } = await asked("supervised", somebody);
  expect(data).toMatchObject({ state: "applied", landings: [{ files: ["note.txt"] }] });
  expect(said).toMatch(/note: Write the note[^]*aloud: Say it aloud, and twice/);
  expect(data["steps"]).toMatchObject([{ id: "aloud" }]);
});

test("a no to the difference lands nothing", async () => {
  const somebody = person(["Carry this out?", "y"], ["Land 1 file", ""]);
  const { data } = await asked("supervised", somebody);
  expect(data).toMatchObject({ applied: false, phase: "execute", state: "complete" });
});

test("a question is answered by a number, and the answer counts", async () => {
  const somebody = person(["a number, or what to do instead > ", "2"], ["Carry this out?", "y"], ["Land 1 file", "y"]);
  const { data } = await asked("manual", somebody);
  expect(said).toContain('How is the step "note" done?\n  1. Write the note\n  2. Say it aloud\n');
  expect(data).toMatchObject({ state: "applied", landings: [{ files: ["aloud.txt"] }] });
});

test("a question that nobody answers leaves the plan waiting", async () => {
  const somebody = person(["a number, or what to do instead > ", ""]);
  await expect(asked("manual", somebody)).rejects.toMatchObject({ code: "awaiting_input" });
});
