/** Every example does what its README says, in a copy of the folder and a home of its own, offline. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Agents, ROOT } from "./testing/agents.ts";
import { codeBlocks, notPrinted, typed } from "./testing/typed-page.ts";

const FOLDER = join(ROOT, "examples");
const NAMES = readdirSync(FOLDER).filter((name) => existsSync(join(FOLDER, name, "README.md")));
const LIST = readFileSync(join(FOLDER, "README.md"), "utf8");

test.each(NAMES)("examples/%s", async (name) => {
  using agents = new Agents();
  const page = readFileSync(join(FOLDER, name, "README.md"), "utf8");
  expect(page.split("\n").length).toBeLessThan(60);
  const script = [`cd "${ROOT}"`, ...codeBlocks(LIST, "sh"), `cd ${name}`, ...codeBlocks(page, "sh")].join("\n");
  const output = await typed(agents, script);
  expect(notPrinted(page, output), output).toEqual([]);
  expect(output).not.toMatch(/^error: /m);
});

test("the list names every example and nothing else", () => {
  const named = [...LIST.matchAll(/^\| \[([\w-]+)\]\(\1\/README\.md\) \|/gm)].map(([, name]) => name);
  expect(new Set(named)).toEqual(new Set(NAMES));
  expect(named.length).toBeGreaterThan(5);
});
