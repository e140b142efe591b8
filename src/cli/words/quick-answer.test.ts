import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TestDirectory } from "../../store/testing/fixtures.ts";
import { quickAnswer, versionLine, type QuickQuestion } from "./quick-answer.ts";

function asker(directory: string): (argv: string[], more?: Partial<QuickQuestion>) => string | undefined {
  const helpFile = join(directory, "help.json");
  writeFileSync(helpFile, JSON.stringify({ "": "all\n", "plan apply": "apply\n" }));
  const environment = { CLEVERAGENTS_DATA_DIR: directory, CLEVERAGENTS_CONFIG_PATH: join(directory, "config.yaml") };
  return (argv, more = {}) =>
    quickAnswer({ argv, environment, cwd: directory, columns: () => undefined, helpFile, ...more });
}

test("the version is answered at once unless another format may be wanted", async () => {
  await using place = await TestDirectory.make();
  const ask = asker(place.path);
  for (const word of ["version", "--version", "-V"]) expect(ask([word])).toBe(versionLine(process.versions));
  expect(ask(["version", "--format", "json"])).toBeUndefined();
  const environment = { CLEVERAGENTS_FORMAT: "json" };
  expect(ask(["version"], { environment })).toBeUndefined();
  writeFileSync(join(place.path, "config.yaml"), "core.user: ann\n");
  expect(ask(["version"])).toBe(versionLine(process.versions));
  writeFileSync(join(place.path, "config.yaml"), "core.format: json\n");
  expect(ask(["version"])).toBeUndefined();
});

test("a page of help is answered by its words, where the terminal is wide enough for it", async () => {
  await using place = await TestDirectory.make();
  const ask = asker(place.path);
  expect(ask(["--help"])).toBe("all\n");
  expect(ask(["plan", "apply", "-h"])).toBe("apply\n");
  expect(ask(["plan", "apply", "-h"], { columns: () => 80 })).toBe("apply\n");
  expect(ask(["plan", "apply", "-h"], { columns: () => 79 })).toBeUndefined();
});

test("everything else is left to the whole program", async () => {
  await using place = await TestDirectory.make();
  const ask = asker(place.path);
  expect(ask([])).toBeUndefined();
  expect(ask(["plan", "list"])).toBeUndefined();
  expect(ask(["toString", "--help"])).toBeUndefined();
  expect(ask(["--help"], { helpFile: join(place.path, "missing.json") })).toBeUndefined();
});

test("a version that the runtime does not tell is a question mark", () => {
  expect(versionLine({})).toMatch(/^CleverAgents \S+ \(Node \?, SQLite \?\)\n$/);
});
