/** Every example on the pages is what its page says: taken, or refused at that line with those words. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseTranscript } from "../actors/scripted/transcript.ts";
import { ValidationError } from "../domain/errors/errors.ts";
import { parseActionFile } from "./action-file.ts";
import { parseActorFile } from "./actor-file.ts";
import { parseProfileFile } from "./profile-file.ts";
import { readToolFile } from "./tool-file.ts";
import { parseToolSkill } from "../domain/tool/tool-skill.ts";
import { parse as parseYaml } from "yaml";

const DOCS = new URL("../../docs/", import.meta.url);

interface Example {
  readonly page: string;
  readonly line: number;
  readonly code: string;
  readonly refused: string | undefined;
}

const EXAMPLES: readonly Example[] = readdirSync(DOCS)
  .filter((page) => page.endsWith(".md"))
  .flatMap((page) => {
    const text = readFileSync(new URL(page, DOCS), "utf8");
    return [...text.matchAll(/^```yaml\n(.*?)^```\n(?:\n> refused: ([^\n]*)\n)?/gms)].map((match) => ({
      page,
      line: text.slice(0, match.index).split("\n").length,
      code: match[1] ?? "",
      refused: match[2],
    }));
  });

function read({ page, code }: Example): unknown {
  // A page may name the file it speaks of in the first line.
  if (/^(?:#.*\n)?turns:/.test(code)) return parseTranscript(code, page);
  if (/^(?:extends|auto_\w+):/m.test(code)) return parseProfileFile(code, page, []);
  if (code.includes("\ndefinition_of_done:")) return parseActionFile(code, page);
  if (/^(?:command|module):/m.test(code) && !/^type:/m.test(code)) return readToolFile(code, page, undefined);
  if (/^(?:builtins|includes):/m.test(code)) return parseToolSkill(parseYaml(code));
  // The steps of a tool actor alone; the rest comes after them, so that lines keep their numbers.
  if (code.startsWith("steps:")) return parseActorFile(`${code}name: example\ntype: tool\ndescription: x\n`, page, {});
  return parseActorFile(code, page, {});
}

/** "line 4, model: …", as the page writes it. */
function problems(example: Example): string[] {
  try {
    read(example);
    return [];
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return error.issues.map(({ line, path, message }) => `line ${line}, ${path}: ${message}`);
  }
}

test("the page has its examples", () => {
  const own = EXAMPLES.filter(({ page }) => page === "actors.md");
  expect(own.filter(({ refused }) => refused === undefined).length).toBeGreaterThanOrEqual(10);
  expect(own.filter(({ refused }) => refused !== undefined).length).toBeGreaterThanOrEqual(6);
});

test.each(EXAMPLES)("$page, line $line", (example) => {
  const found = problems(example);
  if (example.refused === undefined) expect(found).toEqual([]);
  else expect(found.map((problem) => problem.slice(0, example.refused?.length))).toEqual([example.refused]);
});

test("the examples with older spellings mean what the page says", () => {
  const named = (name: string): unknown =>
    EXAMPLES.filter(({ page, refused }) => page === "actors.md" && refused === undefined)
      .flatMap(({ code, page }) => parseActorFile(code, page, {}))
      .find((actor) => actor.name === `local/${name}`);
  expect(named("old-but-fine")).toMatchObject({
    provider: "openai",
    model: "gpt-4o",
    systemPrompt: "Be brief.",
    options: { temperature: 0.3, maxOutputTokens: 500 },
    memory: { maxMessages: 20, maxTokens: 4000 },
  });
  expect(named("old-and-local")).toMatchObject({
    options: { baseUrl: "http://127.0.0.1:8000/v1", maxOutputTokens: 2000 },
  });
  expect(named("old-graph")).toMatchObject({
    route: {
      entry: "classify",
      exits: ["fix", "explain"],
      nodes: [
        { id: "classify", type: "llm", description: "Says what kind of request it is" },
        {
          id: "route",
          type: "conditional",
          branches: [
            { check: 'classify == "bug"', to: "fix" },
            { check: undefined, to: "ask" },
          ],
        },
        { id: "ask", type: "llm" },
        { id: "fix", type: "llm", actorRef: "openai/gpt-4o" },
        { id: "explain", type: "llm", prompt: "Explain: {goal}" },
      ],
      edges: [
        { from: "classify", to: "route", when: undefined },
        { from: "ask", to: "explain", when: { key: "ask", equals: "yes" } },
        { from: "ask", to: "fix", when: { key: "ask", equals: "no" } },
      ],
    },
  });
  expect(named("pipeline")).toMatchObject({
    type: "graph",
    description: "pipeline",
    route: { nodes: [{ actorRef: "local/writer", prompt: "{goal}" }, { actorRef: "local/critic" }] },
  });
  expect(named("tuned")).toMatchObject({
    provider: "ollama",
    options: { temperature: 0.1 },
    systemPrompt: "Say ${NAME} where a name is to be filled in.",
  });
});
