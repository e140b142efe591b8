/** A secret that goes through a plan stays in the files, and is in nothing that is told about them. */
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { expect, test } from "vitest";
import { World } from "./testing/world.ts";

const letters = (length: number): string =>
  randomBytes(length * 4)
    .toString("base64")
    .replaceAll(/[^A-Za-z0-9]/g, "")
    .slice(0, length - 1)
    .concat("7");
const upper = (length: number): string => letters(length).toUpperCase();

/** One of each known form, drawn again in every run; `inside` is the part that may be nowhere. */
const SECRETS: readonly (readonly [string, () => { text: string; inside: string }])[] = [
  ["OpenAI", () => whole(`sk-proj-${letters(40)}`)],
  ["Anthropic", () => whole(`sk-ant-api03-${letters(60)}`)],
  ["Google", () => whole(`AIza${letters(35)}`)],
  ["AWS", () => whole(`AKIA${upper(16)}`)],
  ["GitHub", () => whole(`ghp_${letters(36)}`)],
  ["GitLab", () => whole(`glpat-${letters(20)}`)],
  ["Slack", () => whole(`xoxb-${letters(24)}`)],
  ["Stripe", () => whole(`sk_live_${letters(24)}`)],
  ["npm", () => whole(`npm_${letters(36)}`)],
  ["JWT", () => whole(`eyJ${letters(20)}.${letters(30)}.${letters(30)}`)],
  ["an address", () => named("postgres://me:", letters(18), "@db/x")],
  ["a header", () => named("Authorization: Bearer ", letters(32))],
  ["an assignment", () => named("db_password = ", letters(24))],
  [
    "a private key",
    () => whole(`-----BEGIN PRIVATE KEY-----\n${letters(64)}\n${letters(64)}\n-----END PRIVATE KEY-----`),
  ],
];

function whole(text: string): { text: string; inside: string } {
  return { text, inside: text.slice(-12 - 26).slice(0, 12) };
}

function named(before: string, secret: string, after = ""): { text: string; inside: string } {
  return { text: `${before}${secret}${after}`, inside: secret };
}

/** Every text and blob of these tables. */
function tables(database: string, names: readonly string[]): string {
  using opened = new DatabaseSync(database, { readOnly: true });
  return names.map((name) => JSON.stringify(opened.prepare(`SELECT * FROM ${name}`).all())).join("\n");
}

const TOLD = ["events", "audit_entries", "decisions", "tool_invocations", "plan_failures", "steps", "plans"];

test("no byte of a secret is in what is recorded or shown, and every byte is in the files", async () => {
  using world = new World();
  const { agents } = world;
  const secrets = SECRETS.map(([name, make]) => ({ name, ...make() }));
  const file = `${secrets.map(({ text }) => text).join("\n")}\n`;
  writeFileSync(join(world.repository, "keys.env"), file);
  world.commit("keys");
  // No actor may have them in its file; they come as the plan's argument.
  await world.plan(
    `  - { id: write, tool: write_file, params: { path: new.env, content: "{who}" } }
  - { id: read, tool: read_file, params: { path: keys.env } }
  - { id: search, tool: search_files, params: { pattern: "." } }
  - { id: blame, tool: git_blame, params: { path: keys.env } }
  - { id: shell, tool: shell_execute, params: { command: "cat keys.env" } }
  - { id: edit, tool: edit_file, params: { path: keys.env, old: "{who}", new: "gone" } }
  - { id: fail, tool: shell_execute, params: { command: "cat new.env; head -n 1 new.env; exit 3" } }
`,
  );
  const made = await agents.json("plan", "use", "greet", "shop", "--arg", `who=${file}`);
  const id = String(made.data["plan_id"]);
  const outputs = [JSON.stringify(made)];
  const run = async (...args: string[]): Promise<void> => {
    for (const format of ["json", "plain"]) {
      const { stdout, stderr } = await agents.run([...args, "--format", format]);
      outputs.push(stdout, stderr);
    }
    outputs.push((await agents.run(["-v", ...args])).stderr);
  };
  await run("plan", "execute", id);
  for (const step of ["write", "read", "shell", "edit", "fail"]) await run("plan", "explain", id, step);
  await run("plan", "tree", id);
  await run("plan", "status", id);
  await run("plan", "errors", id);
  await run("plan", "guard", id);
  await run("plan", "use", "greet", "shop", "--arg", `who=${secrets[0]?.text}`, "--arg", `unknown=${secrets[1]?.text}`);
  await run("audit", "list", "-n", "200");
  const told = tables(agents.database, TOLD);
  for (const { name, inside } of secrets) {
    expect(told.includes(inside), `${name} in the database`).toBe(false);
    expect(outputs.join("\n").includes(inside), `${name} in the output`).toBe(false);
  }
  expect(told).toContain("[masked: GitHub token]");
  expect(outputs.join("\n")).toContain("[masked: GitHub token]");
  // Nothing is lost: what was written is what was meant, also when the plan goes on after a rollback.
  const sandbox = join(agents.dataDir, "sandboxes", id, "1", "api", "tree");
  expect(readFileSync(join(sandbox, "new.env"), "utf8")).toBe(file);
  expect(readFileSync(join(sandbox, "keys.env"), "utf8")).toBe("gone");
  const { data } = await agents.json("plan", "rollback", id);
  const [first] = data["checkpoints"] as { id: string }[];
  await agents.json("plan", "rollback", id, String(first?.id), "--yes");
  await agents.json("plan", "execute", id);
  expect(readFileSync(join(sandbox, "new.env"), "utf8")).toBe(file);
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
});

test("the value of a variable that is named like a secret is masked in any form", async () => {
  using world = new World();
  const { agents } = world;
  agents.environment["SHOP_API_TOKEN"] = "correct-horse-battery";
  await world.plan(`  - { id: say, tool: shell_execute, params: { command: "echo {who}; exit 1" } }\n`);
  const { data } = await agents.json("plan", "use", "greet", "shop", "--arg", "who=correct-horse-battery");
  const id = String(data["plan_id"]);
  const { stdout } = await agents.run(["plan", "execute", id, "--format", "json"]);
  expect(stdout).toContain("[masked: configured key]");
  expect(stdout + tables(agents.database, TOLD)).not.toContain("correct-horse");
});

test("what stands for a secret is not written to a file, unless the file is about that", async () => {
  using world = new World();
  const { agents } = world;
  const key = `ghp_${letters(36)}`;
  writeFileSync(join(world.repository, "keys.env"), `A=${key}\nB=1\n`);
  writeFileSync(join(world.repository, "about.md"), "It says [masked: GitHub token] there.\n");
  writeFileSync(join(world.repository, "x.js"), "f(1)\n");
  world.commit("keys");
  const mask = "[masked: GitHub token]";
  const step = (id: string, tool: string, params: Record<string, string>): string =>
    `  - { id: ${id}, tool: ${tool}, params: ${JSON.stringify(params)}, needs: [] }\n`;
  const bad = [
    step("whole", "write_file", { path: "keys.env", content: `A=${mask}\nB=2\n` }),
    step("part", "edit_file", { path: "keys.env", old: "B=1", new: `B=${mask}` }),
    step("code", "rewrite_code", { language: "javascript", pattern: "f($A)", rewrite: `"${mask}"` }),
  ];
  for (const [index, steps] of bad.entries()) {
    agents.write("bad.yaml", `name: bad${index}\ntype: tool\ndescription: d\nsteps:\n${steps}`);
    expect((await agents.json("actor", "add", "--config", "bad.yaml")).exit_code).toBe(0);
  }
  const id = await world.plan(
    step("about", "write_file", { path: "about.md", content: `Now it says ${mask} here.\n` }) +
      step("other", "edit_file", { path: "keys.env", old: "B=1", new: "B=2" }) +
      step("copy", "copy_file", { path: "keys.env", to: "copy.env" }).replace("needs: []", "needs: [other]"),
  );
  expect((await agents.json("plan", "execute", id)).exit_code).toBe(0);
  const sandbox = join(agents.dataDir, "sandboxes", id, "1", "api", "tree");
  expect(readFileSync(join(sandbox, "copy.env"), "utf8")).toBe(`A=${key}\nB=2\n`);
  for (const index of bad.keys()) {
    const other = await world.another("--execution-actor", `bad${index}`);
    const { error } = await agents.json("plan", "execute", other);
    expect(error).toMatchObject({ code: "TOOL_FAILED", message: expect.stringContaining("only stands for a secret") });
    expect((await agents.json("plan", "diff", other)).data["files"]).toEqual([]);
  }
});
