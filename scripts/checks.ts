/**
 * Runs every `scripts/check-*.ts` and the limits of the house, all of them even when one fails, so that one run shows
 * everything that is to be mended.
 */
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";

const failed = [...globSync("scripts/check-*.ts").toSorted(), "scripts/house.ts"].filter(
  (script) => spawnSync(process.execPath, [script], { stdio: "inherit" }).status !== 0,
);
if (failed.length > 0) console.error(`failed: ${failed.join(", ")}`);
process.exitCode = failed.length === 0 ? 0 : 1;
