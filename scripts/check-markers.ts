/** Fails for a marker that a merge left in a file. No other check sees one in a page. */
import { spawnSync } from "node:child_process";

const { status, stdout, stderr } = spawnSync("git", ["grep", "-nIE", "^(<{7}|>{7}) "], { encoding: "utf8" });
if (status !== 0 && status !== 1) throw new Error(`git grep: ${stderr}`);
const found = stdout.split("\n").filter((line) => line !== "");
for (const line of found) console.error(line);
console.log(`markers of merges: ${found.length}`);
process.exitCode = found.length === 0 ? 0 : 1;
