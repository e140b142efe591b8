/** The example of docs/thinking.md, as a reader would type it. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeRepository } from "../testing/git-repository.ts";
import { Agents, ROOT } from "./testing/agents.ts";

test("the page about plans that think can be followed", async () => {
  using agents = new Agents();
  const page = readFileSync(join(ROOT, "docs/thinking.md"), "utf8");
  const blocks = [...page.matchAll(/```(yaml|sh)\n(.*?)```/gs)].map(([, kind = "", text = ""]) => ({ kind, text }));
  const app = join(agents.directory, "app");
  makeRepository(app);
  writeFileSync(join(app, "greeting.txt"), "Hello, world!\nBye.\n");
  const git = (...args: string[]): string => execFileSync("git", args, { cwd: app, encoding: "utf8" });
  git("add", "--all");
  git("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "commit", "--quiet", "--message=greeting");
  for (const { text } of blocks.filter(({ kind }) => kind === "yaml")) {
    const [, name = ""] = /^# (\S+)/.exec(text) ?? [];
    writeFileSync(join(agents.directory, name), text);
  }
  let plan = "";
  const lines = blocks.filter(({ kind }) => kind === "sh").flatMap(({ text }) => text.trim().split("\n"));
  for (const line of lines) {
    const [, ...words] = line
      .replace(/\s+#.*$/, "")
      .replace("01J…", plan)
      .replace("--path .", `--path ${app}`)
      .split(" ");
    const args = words.includes("apply") ? [...words, "--yes"] : words;
    const { exit_code: code, data, error } = await agents.json(...args.filter((word) => word !== ""));
    expect([line, code, error]).toEqual([line, 0, undefined]);
    if (words.includes("use")) plan = String(data["plan_id"]);
  }
  expect(lines).toHaveLength(10);
  expect(readFileSync(join(app, "greeting.txt"), "utf8")).toBe("Hello, Ann!\nBye.\n");
});
