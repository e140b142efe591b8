import { expect, test } from "vitest";
import { ONLY_BUILT_IN } from "../execution/tools/tool-set.ts";
import { modelTools } from "./model-tools.ts";

const PLAN = {
  tools: ONLY_BUILT_IN,
  resources: ["api"],
  readOnly: false,
  inPlace: false,
  network: false,
  commands: true,
};
const names = (...given: Parameters<typeof modelTools>): string[] => modelTools(...given).map(({ name }) => name);

test("a model has 13 tools unless its actor names others; without commands it has what a command would do", () => {
  expect(names(undefined, PLAN)).toHaveLength(13);
  expect(names(undefined, { ...PLAN, network: true })).toEqual([...names(undefined, PLAN), "web_fetch"]);
  expect(names(undefined, PLAN)).not.toContain("get_file_info");
  expect(names(["get_file_info", "query_history"], PLAN)).toEqual(["get_file_info", "query_history"]);
  expect(names(["shell_execute", "git_diff"], PLAN)).toEqual(["git_diff", "shell_execute"]);
  expect(names(undefined, { ...PLAN, readOnly: true })).not.toContain("write_file");
  expect(names(undefined, { ...PLAN, readOnly: true })).toContain("git_diff");
  expect(names(undefined, { ...PLAN, inPlace: true })).not.toContain("shell_execute");
  for (const name of ["git_status", "git_diff"]) {
    expect(names(undefined, PLAN)).not.toContain(name);
    expect(names(undefined, { ...PLAN, inPlace: true })).toContain(name);
    expect(names(undefined, { ...PLAN, commands: false })).toContain(name);
  }
});

test("a model chooses the resource only where there are several", () => {
  const read = (...resources: string[]): unknown => modelTools(["read_file"], { ...PLAN, resources })[0]?.parameters;
  expect(read("api")).not.toHaveProperty("properties.resource");
  expect(read("api", "web")).toMatchObject({
    properties: { resource: { enum: ["api", "web"] } },
    required: ["path", "resource"],
  });
});

test("a model that was trained on patches gets them in place of edits", () => {
  for (const model of ["gpt-5.1", "gpt-5-codex", "openai/gpt-4.1"]) {
    expect(names(undefined, PLAN, model)).toHaveLength(13);
    expect(names(undefined, PLAN, model)).toContain("apply_patch");
  }
  for (const model of ["claude-sonnet-4-5", "gemini-2.5-pro", "gpt-4o", "demo.yaml"])
    expect(names(undefined, PLAN, model)).toContain("edit_file");
});
