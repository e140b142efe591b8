import { expect, test } from "vitest";
import { modelTools } from "./model-tools.ts";

const PLAN = { resources: ["api"], readOnly: false, inPlace: false, network: false };
const names = (...given: Parameters<typeof modelTools>): string[] => modelTools(...given).map(({ name }) => name);

test("a model has 15 tools, and the web where the plan may use the network, unless its actor names others", () => {
  expect(names(undefined, PLAN)).toHaveLength(15);
  expect(names(undefined, { ...PLAN, network: true })).toEqual([...names(undefined, PLAN), "web_fetch"]);
  expect(names(undefined, PLAN)).not.toContain("get_file_info");
  expect(names(["get_file_info", "query_history"], PLAN)).toEqual(["get_file_info", "query_history"]);
  expect(names(undefined, { ...PLAN, readOnly: true })).not.toContain("write_file");
  expect(names(undefined, { ...PLAN, inPlace: true })).not.toContain("shell_execute");
});

test("a model that was trained on patches gets them in place of edits", () => {
  for (const model of ["gpt-5.1", "gpt-5-codex", "openai/gpt-4.1"]) {
    expect(names(undefined, PLAN, model)).toHaveLength(15);
    expect(names(undefined, PLAN, model)).toContain("apply_patch");
  }
  for (const model of ["claude-sonnet-4-5", "gemini-2.5-pro", "gpt-4o", "demo.yaml"])
    expect(names(undefined, PLAN, model)).toContain("edit_file");
});
