/** `agents help` shows pages and the help of commands, on a terminal in the user's pager, and needs no data. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCli } from "./run-cli.ts";
import { Agents, ROOT } from "./testing/agents.ts";
import { capturedIo } from "./testing/captured-io.ts";
import { COMMANDS } from "./words/command-table.ts";

test("every page is a topic with its title, and is printed as it is but for links to other pages", async () => {
  using agents = new Agents();
  const { code, stdout } = await agents.run(["help"]);
  expect(code).toBe(0);
  expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  const files = ["docs", "docs/how-to"].flatMap((directory) => readdirSync(join(ROOT, directory)));
  const wanted = files.flatMap((file) => /^(?!README)([\w-]+)\.md$/.exec(file)?.[1]?.toLowerCase() ?? []);
  const { data } = await agents.json("help");
  const topics = data["topics"] as { topic: string; title: string }[];
  expect(topics.map(({ topic }) => topic).toSorted()).toEqual(wanted.toSorted());
  for (const { topic, title } of topics) expect(stdout).toMatch(new RegExp(`^  ${topic} +${title[0]}`, "m"));
  for (const { topic, title } of topics) {
    const page = await agents.run(["help", `${topic}.md`]);
    expect([topic, page.code, page.stdout.includes(topic === "commands" ? "# Commands" : title)]).toEqual([
      topic,
      0,
      true,
    ]);
  }
  const page = await agents.run(["help", "two-repositories"]);
  expect(page.stdout).toContain("agents project create shop --resource api --resource web\n");
  expect(page.stdout).toContain("conflicts (agents help conflicts.md)");
  expect(existsSync(agents.dataDir)).toBe(false);
});

test("the help of a command is the one that --help prints, also by another name; a word that is both names the page", async () => {
  using agents = new Agents();
  for (const { path, aliases = [] } of COMMANDS) {
    const words = path.split(" ");
    const asked = (await agents.run([...words, "--help"])).stdout;
    expect((await agents.run(["help", ...words])).stdout.startsWith(asked)).toBe(true);
    for (const alias of aliases)
      expect((await agents.run(["help", ...words.slice(0, -1), alias])).stdout).toContain(asked.trimEnd());
  }
  expect((await agents.run(["help", "plan"])).stdout).toBe((await agents.run(["plan", "--help"])).stdout);
  expect((await agents.run(["help", "context"])).stdout).toContain("agents help context.md\n");
});

test("an unknown topic is an error with the likely one", async () => {
  using agents = new Agents();
  const { code, stderr } = await agents.run(["help", "two-repositoris"]);
  expect([code, stderr]).toEqual([
    3,
    'error: There is no topic "two-repositoris".\nnext:  did you mean: agents help two-repositories\nnext:  agents help\n',
  ]);
  const command = await agents.json("help", "plan", "aply");
  expect(command.error?.suggestions).toEqual(["did you mean: agents help plan apply", "agents help"]);
  expect((await agents.json("help", "../../package")).exit_code).toBe(3);
});

test("on a terminal a page is read in the pager, and a broken configuration is not in the way", async () => {
  using agents = new Agents();
  const config = agents.write("config.yaml", "core: [");
  const io = capturedIo({ env: { CLEVERAGENTS_DATA_DIR: agents.dataDir, PAGER: "more" }, cwd: agents.directory });
  const paged: string[] = [];
  const code = await runCli(["--config-path", config, "help", "capping-costs"], {
    ...io,
    stdout: { ...io.stdout, isTTY: true, columns: 80 },
    startPager: (command, text) => {
      paged.push(command, text);
      return Promise.resolve(true);
    },
  });
  expect([code, io.written.stdout, paged[0]]).toEqual([0, "", "more"]);
  expect(paged[1]).toContain("# Cap the costs");
});
