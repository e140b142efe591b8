/** The page about tools of the user's own says what is true. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readToolFile } from "./tool-file.ts";

const PAGE = readFileSync(new URL("../../docs/own-tools.md", import.meta.url), "utf8");

test("the example is a valid tool that cannot write", () => {
  const [, example = ""] = /^```yaml\n(.*?)^```$/ms.exec(PAGE) ?? [];
  const { tool } = readToolFile(example, "count-words.yaml", undefined);
  expect(tool).toMatchObject({ name: "local/count-words", writes: false, timeoutMs: 120_000, output: "text" });
  expect(tool.runs).toEqual({ kind: "command", command: ["wc", "-w", "{path}"] });
});
