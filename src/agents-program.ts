/** The program `agents`: answers for help and the version at once, and starts the whole program for everything else. */
import { fileURLToPath } from "node:url";
import { quickAnswer } from "./cli/words/quick-answer.ts";

const answer = quickAnswer({
  argv: process.argv.slice(2),
  environment: process.env,
  cwd: process.cwd(),
  columns: () => process.stdout.columns,
  helpFile: fileURLToPath(new URL("help.json", import.meta.url)),
});
if (answer === undefined) void import("./whole-program.ts");
else {
  // A reader that went away (`agents --help | head -1`) is not an error.
  process.stdout.on("error", () => undefined);
  process.stdout.write(answer);
}
