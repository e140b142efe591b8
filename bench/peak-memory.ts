/** Loaded first into a measured process (`node --import`): at its end it writes down the most memory it ever had. */
import { appendFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const file = process.env["BENCH_PEAK_MEMORY"];
if (isMainThread && file !== undefined) {
  process.on("exit", () => appendFileSync(file, `${process.resourceUsage().maxRSS}\n`));
}
