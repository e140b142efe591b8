/**
 * `npm run transcript`: runs the session that the README shows. The commands are those of the README's own instructions
 * ("In five minutes"), run by a real shell in a new directory, so that a reader who follows them sees the same text and
 * the same cost. Values that differ from run to run (ids, hashes, times) are replaced by fixed ones. A test compares
 * the output with the README.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DemoWorld } from "./demo-world.ts";

const ROOT = join(import.meta.dirname, "..");

await using world = await DemoWorld.make();

const { setUp, run } = instructions(readFileSync(join(ROOT, "README.md"), "utf8"));
await shell(ROOT, setUp);
const shown = await session(run);
const [, plan = ""] = /^plan (\w+) of/m.exec(shown) ?? [];
await session(`agents plan undo ${plan} --yes`);

/** The README's block about examples/health: its last line is the run itself, the lines before it prepare the run. */
function instructions(readme: string): { setUp: string; run: string } {
  const blocks = [...readme.matchAll(/^```sh\n(.*?)\n```$/gms)].map(([, code = ""]) => code);
  const lines = blocks.find((code) => code.includes("examples/health"))?.split("\n") ?? [];
  const last = lines.pop();
  if (last?.startsWith("agents run ") !== true) throw new Error("The README's instructions do not end with a run.");
  return { setUp: lines.join("\n"), run: last };
}

/** Prints a command and everything it prints, as a terminal shows it. */
async function session(command: string): Promise<string> {
  const output = await shell(join(world.directory, "health"), command);
  process.stdout.write(`$ ${stable(command)}\n${stable(output)}`);
  return output;
}

async function shell(place: string, script: string): Promise<string> {
  const { code, stdout, stderr } = await world.shell(place, script);
  if (code !== 0) throw new Error(`${script} failed: ${stderr}`);
  return stderr + stdout;
}

function stable(text: string): string {
  return (
    text
      .replaceAll(world.directory, "~")
      .replaceAll(/\b01[0-9A-HJKMNP-TV-Z]{24}\b/g, "01PLAN")
      .replaceAll(/\((\d+ min )?\d+(\.\d)? (ms|s)\)/g, "(…)")
      // The decisions are part of the context, with their ids, so the number of tokens varies.
      .replaceAll(/^(context .*) [\d,]+ tokens$/gm, "$1 … tokens")
      .replaceAll(/\b[0-9a-f]{10}\b/g, "c0ffee0000")
      .replaceAll(/^(Commands are confined) by .*?:/gm, "$1 by bubblewrap:")
  );
}
