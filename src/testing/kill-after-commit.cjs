"use strict";
/**
 * Loaded before a program (`node --require`): kills it right after its store has committed TEST_KILL_AFTER times, and
 * before anything in the program hears of that. A program that ends by itself writes the number of commits to the file
 * TEST_COMMITS.
 */
const { writeFileSync } = require("node:fs");
const { DatabaseSync } = require("node:sqlite");

const limit = Number(process.env["TEST_KILL_AFTER"] ?? 0);
const prepare = DatabaseSync.prototype.prepare;
let commits = 0;

DatabaseSync.prototype.prepare = function (sql, ...more) {
  const statement = prepare.call(this, sql, ...more);
  if (sql !== "COMMIT" || !this.location().endsWith("/cleveragents.db")) return statement;
  const run = statement.run;
  statement.run = () => {
    const result = run.call(statement);
    commits += 1;
    if (commits === limit) process.kill(process.pid, "SIGKILL");
    return result;
  };
  return statement;
};

process.on("exit", () => {
  const file = process.env["TEST_COMMITS"];
  if (file !== undefined) writeFileSync(file, String(commits));
});
