import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Given, Then, When } from "@cucumber/cucumber";
import { put } from "../../src/cli/testing/user-world.ts";
import { git } from "../../src/testing/git-repository.ts";
import type { CommandWorld } from "../support/command-world.ts";

/** Line breaks are spelled \n in a scenario. */
function spelled(text: string): string {
  return text.replaceAll(String.raw`\n`, "\n");
}

function write(world: CommandWorld, path: string, text: string): void {
  put(world.agents.directory, { [path]: spelled(text) });
}

Given(
  "a directory {string} with {string} in {string}",
  function (this: CommandWorld, directory: string, text: string, name: string) {
    write(this, join(directory, name), text);
  },
);

When("a person writes {string} into {string}", function (this: CommandWorld, text: string, path: string) {
  write(this, path, text);
});

When(
  "a person commits {string} as {string} in {string}",
  function (this: CommandWorld, text: string, path: string, repository: string) {
    write(this, join(repository, path), text);
    const place = join(this.agents.directory, repository);
    git(place, "add", path);
    git(place, "commit", "--quiet", "--message=A person's");
  },
);

Then("the file {string} holds {string}", function (this: CommandWorld, path: string, text: string) {
  assert.equal(readFileSync(join(this.agents.directory, path), "utf8"), spelled(text));
});

Then("there is no file {string}", function (this: CommandWorld, path: string) {
  assert.ok(!existsSync(join(this.agents.directory, path)));
});

Then("git finds {string} clean", function (this: CommandWorld, repository: string) {
  assert.equal(git(join(this.agents.directory, repository), "status", "--porcelain"), "");
});

Then("{string} has {int} commit(s)", function (this: CommandWorld, repository: string, count: number) {
  assert.equal(git(join(this.agents.directory, repository), "rev-list", "--count", "HEAD").trim(), String(count));
});
