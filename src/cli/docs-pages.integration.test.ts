/** Every page of docs/how-to can be followed to the letter, in a fresh home, and prints what it shows. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { git } from "../testing/git-repository.ts";
import { Agents, ROOT } from "./testing/agents.ts";
import { noTerminal } from "./testing/pseudo-terminal.ts";
import { SpeakingServer } from "./testing/speaking-server.ts";
import { codeBlocks, notPrinted, pageText, placeOf, typed, typedAtTerminal } from "./testing/typed-page.ts";

const PAGES = readdirSync(join(ROOT, "docs/how-to"));
/** Followed by tests of their own below. */
const OWN_TESTS = ["local-model.md", "ci.md"];

test.each(PAGES.filter((name) => !OWN_TESTS.includes(name)))("docs/how-to/%s can be followed", async (name) => {
  using agents = new Agents();
  const page = pageText(`how-to/${name}`);
  expect(page.split("\n").length).toBeLessThan(80);
  const output = await typed(agents, codeBlocks(page, "sh").join("\n"));
  expect(notPrinted(page, output)).toEqual([]);
  expect(output).not.toMatch(/^error: Something unexpected/m);
});

describe.skipIf(noTerminal() !== undefined)("a newcomer at a terminal, who says yes to every question", () => {
  test.each(PAGES.filter((name) => !OWN_TESTS.includes(name)))("gets through docs/how-to/%s", async (name) => {
    using agents = new Agents();
    const { code, seen } = await typedAtTerminal(agents, codeBlocks(pageText(`how-to/${name}`), "sh").join("\n"));
    expect([code, seen]).toEqual([0, expect.any(String)]);
  });

  test.each(["examples/health", "agents init"])("gets through the README's part about %s", async (part) => {
    using agents = new Agents();
    const block = codeBlocks(pageText("../README.md"), "sh").find((one) => one.includes(part)) ?? "";
    const place = part.startsWith("examples") ? `cd "${ROOT}"\n` : "";
    const { code, seen } = await typedAtTerminal(agents, place + block);
    expect([code, seen]).toEqual([0, expect.stringMatching(/applied/)]);
  });
});

test("the page about a local model works with a server on this machine, and asks nothing else", async () => {
  const page = pageText("how-to/local-model.md");
  const address = "http://127.0.0.1:11434/v1";
  await using server = new SpeakingServer(({ user, results }) => {
    if (/^Decide how this is done/m.test(user)) {
      return { call: { tool: "record_strategy", parameters: { steps: [{ id: "hours", description: "Write them" }] } } };
    }
    const write = { tool: "write_file", parameters: { path: "hours.md", content: "Open on Sundays.\n" } };
    return results.includes("write_file") ? { text: "The hours are written." } : { call: write };
  });
  const url = await server.listen();
  using agents = new Agents();
  const script = codeBlocks(page, "sh").join("\n");
  expect(script).toContain(address);
  const output = await typed(agents, script.replace(address, url));
  expect(output).toMatch(/^Open on Sundays\.$/m);
  expect(server.asked.length).toBeGreaterThan(2);
  expect(git(join(placeOf(agents), "shop"), "log", "--format=%s")).toBe("write the hours\nOpen the shop\n");
});

test("a line that a page shows and that is not printed is found, also when only its order is wrong", () => {
  const page = "```text\nfirst … 2\nthird\n```\n";
  expect(notPrinted(page, "first 1\nfirst a 2\nthird\n")).toEqual([]);
  expect(notPrinted(page, "third\nfirst a 2\n")).toEqual(["third"]);
  expect(notPrinted(page, "first a 23\nthird\n")).toEqual(["first … 2"]);
});

test("the page about uninstalling leaves nothing of the data", async () => {
  using agents = new Agents();
  const page = pageText("how-to/backup-and-uninstall.md");
  await typed(agents, codeBlocks(page, "sh").join("\n"));
  expect(existsSync(agents.database)).toBe(false);
  expect(existsSync(join(placeOf(agents), "restored/cleveragents.db"))).toBe(true);
});

const Steps = z.array(z.looseObject({ run: z.string().optional(), uses: z.string().optional() }));
const GitHub = z.looseObject({
  jobs: z.looseObject({ plan: z.looseObject({ steps: Steps, env: z.record(z.string(), z.string()) }) }),
});
const GitLab = z.looseObject({ agents: z.looseObject({ script: z.array(z.string()) }) });

/** Commands of other programs, which need a network or the service itself. */
const ELSEWHERE = /^(?:sudo apt-get|npm install|gh pr comment) /;

test("the files for CI can be read, and what they tell agents to do makes a patch without applying it", async () => {
  const page = pageText("how-to/ci.md");
  const [github = "", gitlab = ""] = codeBlocks(page, "yaml");
  const { steps, env } = GitHub.parse(parse(github)).jobs.plan;
  const runs = steps.flatMap(({ run, uses }) => (run === undefined || uses !== undefined ? [] : [run]));
  const lines = runs.filter((run) => !ELSEWHERE.test(run)).join("\n");
  expect(lines).not.toContain("${{");
  expect(Object.keys(env)).toEqual(expect.arrayContaining(["REQUEST", "PULL_REQUEST", "ANTHROPIC_API_KEY"]));
  const { script } = GitLab.parse(parse(gitlab)).agents;

  using agents = new Agents();
  const [setUp = ""] = codeBlocks(pageText("how-to/what-it-saw.md"), "sh");
  const out = agents.directory;
  const typedLines = [lines, script.join("\n")].map((one) => one.replaceAll("/tmp/", `${out}/`));
  const again = 'REQUEST="write the hours"';
  await typed(agents, [setUp, again, typedLines[0], "git log --oneline", again, typedLines[1]].join("\n"));
  const shop = join(placeOf(agents), "shop");
  expect(readFileSync(join(out, "comment.md"), "utf8")).toMatch(/^hours\.md +.*added/m);
  for (const patch of [join(out, "plan.patch"), join(shop, "plan.patch")]) {
    expect(readFileSync(patch, "utf8")).toContain("+Open on Sundays.");
    git(shop, "apply", "--check", patch);
  }
  expect(git(shop, "log", "--format=%s")).toBe("Open the shop\n");
  expect(JSON.parse(readFileSync(join(out, "plan.json"), "utf8"))).toMatchObject({ exit_code: 0 });
});
