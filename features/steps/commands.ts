import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Given, Then, When, type DataTable } from "@cucumber/cucumber";
import { allowCommands } from "../../src/cli/testing/confinement.ts";
import { makeRepository } from "../../src/testing/git-repository.ts";
import type { CommandWorld } from "../support/command-world.ts";

Given("an empty data directory", function (this: CommandWorld) {
  assert.ok(!existsSync(this.agents.dataDir));
});

// Without confinement only a profile that does not require it runs them, and the default one does.
Given("plans may run commands on this machine", async function (this: CommandWorld) {
  await allowCommands(this.agents);
});

Given("the file {string}:", function (this: CommandWorld, name: string, text: string) {
  this.agents.write(name, text);
});

Given(
  "the action in {string} and the project {string}",
  async function (this: CommandWorld, file: string, project: string) {
    for (const line of [`agents action create --config ${file}`, `agents project create ${project}`]) {
      const { code, stderr } = await this.run(line);
      assert.equal(code, 0, stderr);
    }
  },
);

Given("a git repository {string}", function (this: CommandWorld, name: string) {
  makeRepository(join(this.agents.directory, name));
});

Given("the hook {string} of {string}:", function (this: CommandWorld, name: string, repository: string, text: string) {
  const hook = join(this.agents.directory, repository, ".git", "hooks", name);
  mkdirSync(dirname(hook), { recursive: true });
  writeFileSync(hook, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
});

async function makePlan(world: CommandWorld, action: string, project: string, given: string): Promise<void> {
  world.last = await world.run(`agents plan use ${action} ${project} ${given} --format json`);
  assert.equal(world.last.code, 0, world.last.stdout);
  world.words.set("plan", String(world.envelope().data["plan_id"]));
}

Given("a plan of {string} for {string}", async function (this: CommandWorld, action: string, project: string) {
  await makePlan(this, action, project, "");
});

Given(
  "a plan of {string} for {string} with {string}",
  async function (this: CommandWorld, action: string, project: string, argument: string) {
    await makePlan(this, action, project, `--arg ${argument}`);
  },
);

/** A change that a person can make with a database tool. */
function tamper(world: CommandWorld, sql: string): void {
  const database = new DatabaseSync(world.agents.database);
  try {
    const { changes } = database.prepare(sql).run(world.words.get("plan") ?? "");
    assert.equal(changes, 1);
  } finally {
    database.close();
  }
}

Given("a person changes an audit entry of the plan from outside", function (this: CommandWorld) {
  tamper(this, `UPDATE audit_entries SET user_name = 'mallory' WHERE chain = ? AND position = 1`);
});

Given("a person removes the plan's last audit entry from outside", function (this: CommandWorld) {
  tamper(this, "DELETE FROM audit_entries WHERE chain = ?");
});

When("I run {string}", async function (this: CommandWorld, line: string) {
  this.last = await this.run(line);
});

When("{int} processes at once run {string}", async function (this: CommandWorld, count: number, line: string) {
  this.all = await Promise.all(Array.from({ length: count }, () => this.process(line)));
});

When("these run at once:", async function (this: CommandWorld, table: DataTable) {
  this.all = await Promise.all(table.raw().map(([line = ""]) => this.process(line)));
});

Then("it succeeds", function (this: CommandWorld) {
  assert.equal(this.last.code, 0, this.last.stderr + this.last.stdout);
});

Then("it fails with exit code {int}", function (this: CommandWorld, code: number) {
  assert.equal(this.last.code, code, this.last.stderr + this.last.stdout);
});

Then("all of them succeed", function (this: CommandWorld) {
  assert.deepEqual(
    this.all.map(({ code, stderr }) => [code, stderr]),
    this.all.map(() => [0, ""]),
  );
});

Then(
  "one of them succeeds and {int} exit with code {int}",
  function (this: CommandWorld, others: number, code: number) {
    const codes = this.all.map((finished) => Number(finished.code)).sort((a, b) => a - b);
    assert.deepEqual(codes, [0, ...Array.from({ length: others }, () => code)]);
  },
);

Then("each of them succeeded or exits with code {int}", function (this: CommandWorld, code: number) {
  for (const finished of this.all) assert.ok([0, code].includes(Number(finished.code)), finished.stderr);
  assert.ok(this.all.some((finished) => finished.code === 0));
});

Then(/^the output contains "(.*)"$/, function (this: CommandWorld, text: string) {
  assert.ok(this.last.stdout.includes(text), this.last.stdout);
});

Then(/^the error contains "(.*)"$/, function (this: CommandWorld, text: string) {
  assert.ok(this.last.stderr.includes(text), this.last.stderr);
});

Then("the envelope's command is {string}", function (this: CommandWorld, command: string) {
  assert.equal(this.envelope().command, command);
});

Then("the data has {int} {string}", function (this: CommandWorld, count: number, key: string) {
  const list = this.envelope().data[key];
  assert.ok(Array.isArray(list));
  assert.equal(list.length, count);
});

Then("the data's {string} is {string}", function (this: CommandWorld, key: string, value: string) {
  assert.equal(this.envelope().data[key], value);
});

Then("I keep the data's {string}", function (this: CommandWorld, key: string) {
  this.words.set(key, String(this.envelope().data[key]));
});

Then("the error code is {string}", function (this: CommandWorld, code: string) {
  assert.equal(this.envelope().error?.code, code);
});

Then("the error's detail {string} is the plan", function (this: CommandWorld, key: string) {
  assert.equal(this.envelope().error?.detail[key], this.words.get("plan"));
});

Then("the setting {string} is {string}", function (this: CommandWorld, key: string, value: string) {
  const settings = this.envelope().data["settings"] as { key: string; value: string }[];
  assert.equal(settings.find((setting) => setting.key === key)?.value, value);
});
