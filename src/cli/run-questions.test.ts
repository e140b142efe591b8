import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openCleverAgents } from "../app/open.ts";
import type { OutputOf } from "../app/table/operation-table.ts";
import { makeRepository } from "../testing/git-repository.ts";
import type { Asking } from "./terminal/confirm.ts";
import { Io } from "./terminal/io.ts";
import { terminalAsk } from "./terminal-ask.ts";
import { capturedIo } from "./testing/captured-io.ts";

/** `agents run` with a person in front of it, who answers what is asked. */
const STEPS = [
  { id: "note", description: "Write the note", risk: 0.2, confidence: 0.9, alternatives: ["Say it aloud"] },
];
const TURNS = [
  {
    match: { user: "/different from this strategy: note \\(Write the note\\)\\? say it aloud, and twice/" },
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
    match: { user: 'How is the step "note" done? Say it aloud' },
    tool_calls: [{ tool: "record_strategy", parameters: { steps: [{ id: "voice", description: "Say it aloud" }] } }],
  },
  {
    match: { user: 'step "voice"' },
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
});
afterEach(async () => {
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

async function asked(profile: string, asking: Asking): Promise<OutputOf<"run">> {
  const environment = {
    CLEVERAGENTS_PROVIDER_SCRIPTED_TRANSCRIPT: join(directory, "model.yaml"),
    NO_COLOR: "1",
  };
  await using agents = await openCleverAgents({ dataDir: join(directory, "data"), environment });
  const { input: stdin } = asking;
  const stderr = {
    isTTY: true,
    write: (text: string) => {
      said += text;
      return asking.output.write(text);
    },
  };
  const io = new Io({ ...capturedIo({ env: environment, cwd: repository }), stdin, stderr });
  const ask = terminalAsk(io, "plain", () => undefined);
  const wish = { request: "write a note", directory: repository, automationProfile: profile };
  return await agents.run("run", wish, { ask, answers: "person" });
}

test("the strategy is shown and approved, then the diff, and it is applied", async () => {
  const asking = person(
    ["Run this plan? [y/N, or what should be different] ", "y"],
    ["Apply 1 file (+1 −0)? [y/N] ", "yes"],
  );
  const data = await asked("supervised", asking);
  expect(data).toMatchObject({ state: "applied", landings: [{ files: ["note.txt"] }] });
  expect(data.nextSteps[0]).toEqual({ operation: "plan.undo", arguments: { plan: data.planId } });
  expect(said).toContain("Strategy: 1 step");
  expect(said).toContain("+++ b/note.txt");
  expect(await readFile(join(repository, "note.txt"), "utf8")).toBe("x\n");
});

test("a no to the strategy changes nothing, and the plan waits", async () => {
  const data = await asked("supervised", person(["Run this plan? [y/N, or what should be different] ", "n"]));
  expect(data).toMatchObject({ phase: "strategize", executed: false });
});

test("an answer that is neither is guidance: another strategy is made and shown, and only that one is carried out", async () => {
  const question = "Run this plan? [y/N, or what should be different] ";
  const asking = person([question, "say it aloud, and twice"], [question, "y"], ["Apply 1 file", "y"]);
  const data = await asked("supervised", asking);
  expect(data).toMatchObject({ state: "applied", landings: [{ files: ["note.txt"] }] });
  expect(said).toMatch(/note: Write the note[^]*aloud: Say it aloud, and twice/);
  expect(data).toMatchObject({ steps: [{ id: "aloud" }] });
});

test("a no to the diff applies nothing", async () => {
  const asking = person(["Run this plan?", "y"], ["Apply 1 file", ""]);
  const data = await asked("supervised", asking);
  expect(data).toMatchObject({ applied: false, phase: "execute", state: "complete" });
});

test("a question is answered by a number, and the answer counts", async () => {
  const asking = person(["a number, or what to do instead > ", "2"], ["Run this plan?", "y"], ["Apply 1 file", "y"]);
  const data = await asked("manual", asking);
  expect(said).toContain('How is the step "note" done?\n  1. Write the note\n  2. Say it aloud\n');
  expect(data).toMatchObject({ state: "applied", landings: [{ files: ["aloud.txt"] }] });
});

test("a question without an answer leaves the plan waiting", async () => {
  const asking = person(["a number, or what to do instead > ", ""]);
  await expect(asked("manual", asking)).rejects.toMatchObject({ code: "awaiting_input" });
});
